"""Design rules: what experience says about a drawing, one rule a file, each with a page of its own."""
