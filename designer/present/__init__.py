"""Answers as pages: what each kind of answer says, once, as data that terminal, window and report render."""
