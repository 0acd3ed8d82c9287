"""What files from strangers come wrapped in: zip, XML, packages of EPUB, Palm databases."""
