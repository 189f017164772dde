"""What a machine is: one probe per source, gathered into a :class:`~ascendenv.host.model.Host`."""
