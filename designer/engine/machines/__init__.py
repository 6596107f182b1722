"""Virtual machines on hosts: where they are placed, and what they leave to what runs inside them."""
