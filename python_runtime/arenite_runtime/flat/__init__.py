"""The flat model's accessors, generated from runtime_c/schema/arenite.fbs (`make generate`)."""
