"""What panels show, as rows and texts. Plain Python: nothing here knows Qt."""
