"""Charts of reports: one form a file, drawn with the names of inks; one unit is one printed pixel."""
