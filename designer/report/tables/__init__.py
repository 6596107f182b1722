"""Tables behind the report, one a file; they can be written as CSV and XLSX as well."""
