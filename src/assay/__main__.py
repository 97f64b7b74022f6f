from assay.cli.main import main

raise SystemExit(main())
