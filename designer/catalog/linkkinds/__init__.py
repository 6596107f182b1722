"""Link kinds, by the domain of a network they belong to."""
