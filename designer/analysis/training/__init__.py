"""Training on the drawn design: accelerators from their parts, collectives and input over the drawn routes."""
