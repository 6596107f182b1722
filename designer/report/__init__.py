"""What people read: figures, drawings, tables and reports."""
