"""A gateway over standard streams or HTTP; nothing here but `stdio` and `http_serving` knows of gateways."""
