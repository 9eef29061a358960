s/pipelines\[tiles % 2\]/pipelines[0]/
