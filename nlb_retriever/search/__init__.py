"""From a query to ranked hits and cited answers. `retriever.Retriever` is the way in."""
