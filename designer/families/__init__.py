"""Families of workloads, a folder each: kinds, tasks, costs, formulas, rules, answers and page of that family."""
