"""Migrations and capacity of virtual machines."""
