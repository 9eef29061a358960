s/p.stream.synchronize();//
