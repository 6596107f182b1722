"""A day or a week by a timetable."""
