/^struct parameters {$/,/^};$/ {
  /^  int times;$/d
  s/^  double value;$/&\n  int times;/
}
