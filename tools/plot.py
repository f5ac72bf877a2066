def draw(data, folder): pass
