"""Reports as pages: one format a file."""
