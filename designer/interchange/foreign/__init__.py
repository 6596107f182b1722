"""What importers share: safe XML, known hardware, and the builder of a machine's design."""
