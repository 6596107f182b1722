"""Work with designs in notebooks: data frames of every table, figures of plotting libraries, rich display."""
