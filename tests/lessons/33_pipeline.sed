s/most_bright = 800;/most_bright = 500;/
