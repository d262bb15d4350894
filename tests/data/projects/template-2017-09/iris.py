print('iris')
