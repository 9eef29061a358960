/2\. Fork: /a\    fork.record(main_stream.get());
/capturing a memset/{n;d;}
