"""One verb, one module: a request is planned, the plan is executed, a report comes back."""
