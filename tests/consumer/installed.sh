# Read by scripts that use the package installed below $libdir/.. as users do: pkg-config finds it, and the scripts go on in
# the folder $work.
if ! command -v pkg-config >/dev/null; then
  echo "pkg-config not found: skipped"
  exit 77
fi
PKG_CONFIG_PATH=$libdir/pkgconfig
LD_LIBRARY_PATH=$libdir
export PKG_CONFIG_PATH LD_LIBRARY_PATH
mkdir -p "$work"
cd "$work"
