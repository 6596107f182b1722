"""What people read: pictures, figures, tables."""
