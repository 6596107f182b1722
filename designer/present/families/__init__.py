"""What the page of each family of workloads says: its headline, its key figures, where its time goes."""
