"""How often parts fail, and how long a failure holds work up."""
