s|halo = steps;  // 1.|halo = steps - 1;  // 1.|
