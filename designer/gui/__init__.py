"""The window: turns designs into pictures and clicks into edits."""
