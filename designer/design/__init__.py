"""The document: parts, links, groups and what is to be run on them; edits, history, elaboration."""
