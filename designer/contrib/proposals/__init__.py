"""From a goal to drawn designs: families draw them, a search keeps those that no other beats."""
