#!/usr/bin/env bash
# xlm-mpi: recipes of packages agree with what configure demands, with bootstrap, and with each other; a release has its checksum.
# SPDX-License-Identifier: GPL-3.0-or-later
set -u
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL DEB_BUILD_OPTIONS
cd "$XLM_SOURCE" || exit 99
failures=0
fail() { printf 'FAIL: %s\n' "$*" >&2; failures=$((failures + 1)); }

version=$(sed -n 's/^AC_INIT(\[xlm-mpi\], \[\([0-9.]*\)\])$/\1/p' configure.ac)
[ -n "$version" ] || fail "configure.ac has no version"
debian=packaging/debian
spack=packaging/spack/package.py
easybuild=$(echo packaging/easybuild/xlm-mpi-*.eb)

echo "== versions"
grep -q "^xlm-mpi ($version-[0-9]*) " <(head -n 1 $debian/changelog) || fail "$debian/changelog: $(head -n 1 $debian/changelog)"
grep -qxF "    version(\"$version\")" $spack && grep -qF "/xlm-mpi-$version.tar.gz\"" $spack || fail "$spack is not of version $version"
case $easybuild in
packaging/easybuild/xlm-mpi-"$version"-*.eb) grep -qxF "version = '$version'" "$easybuild" || fail "$easybuild is of another version" ;;
*) fail "another version than $version: $easybuild" ;;
esac
[ "$(grep -c "release=xlm-mpi-$version.tar.gz" packaging/apptainer.def)" -eq 2 ] || fail "packaging/apptainer.def: not $version"

# field NAME [PACKAGE]: the words of a field of debian/control, of the source or of a package, without what stands in brackets.
field() {
    awk -v field="$1" -v package="${2-}" '
        /^Package: / { now = $2 }
        /^[A-Za-z-]+:/ { name = $1; sub(/:.*/, "", name); sub(/^[^:]*:/, "") }
        name == field && now == package' $debian/control | tr ',' '\n' | sed -e 's/[[(<].*//' -e 's/ //g' | grep .
}
builds=$(field Build-Depends)

echo "== the language is C11 with every version of autoconf"
sed -n '/^AC_PROG_CC$/q; p' configure.ac | grep -qx ': .{ac_cv_prog_cc_c23=no}' || fail "configure.ac lets AC_PROG_CC ask for C23"

echo "== what bootstrap installs is what packages are built with, and nothing else"
# packages NAME: those of a list of bootstrap.
packages() { sed -n "/^$1='$/,/^'$/p" bootstrap | sed -e 1d -e '$d' | awk '{ print $1 }'; }
wanted=$(packages packages; packages openmpi_packages)
[ "$(wc -l <<<"$wanted")" -ge 20 ] || fail "bootstrap has no lists of packages: $wanted"
for package in $wanted; do
    case $package in
    gcc | g++ | libc6-dev | make) ;; # build-essential, which every build of a package has
    autoconf | automake | libtool) ;; # of debhelper
    pandoc | tidy | duktape) ;; # for the HTML manual and its test, which packages do without
    xz-utils | bzip2) ;; # for tests of programs, which packages are built without
    gnuplot-nox) field Recommends xlm-mpi | grep -qx $package || fail "xlm-mpi does not recommend $package" ;;
    *) grep -qxF "$package" <<<"$builds" || fail "$debian/control does not build with $package, which bootstrap installs" ;;
    esac
done
for package in $builds; do
    [ "$package" = debhelper-compat ] || grep -qxF "$package" <<<"$wanted" || fail "bootstrap does not install $package, of $debian/control"
done

echo "== every library that is linked is in each recipe, in no older version than configure asks for"
# Of the variables that configure sets: package in Debian, in Spack, in EasyBuild (- where the toolchain has it, or nobody).
libraries='
HDF5          libhdf5-openmpi-dev      hdf5          HDF5
MPI           libopenmpi-dev           mpi           -
BLIS          libblis-openmp-dev       blis          BLIS
SCALAPACK     libscalapack-openmpi-dev scalapack     -
ONEDNN        libdnnl-dev              onednn        -
SLEEF         libsleef-dev             sleef         SLEEF
GLIB          libglib2.0-dev           glib          GLib
ICU           libicu-dev               icu4c         ICU
JANSSON       libjansson-dev           jansson       Jansson
LIBXML        libxml2-dev              libxml2       libxml2
ZLIB          zlib1g-dev               zlib-api      zlib
LIBARCHIVE    libarchive-dev           libarchive    libarchive
GSL           libgsl-dev               gsl           GSL
SENTENCEPIECE libsentencepiece-dev     sentencepiece SentencePiece
'
linked=$(sed -n '/^libxlm_la_LIBADD/,/[^\\]$/p' src/local.mk | grep -oE '[A-Z0-9]+_LIBS' | sed 's/_LIBS$//')
[ "$(wc -l <<<"$linked")" -ge 14 ] || fail "src/local.mk names no libraries: $linked"
for library in $linked; do
    read -r _ in_debian in_spack in_easybuild < <(grep "^$library " <<<"$libraries") || { fail "$library is in no recipe"; continue; }
    grep -qxF "$in_debian" <<<"$builds" || fail "$debian/control does not build with $in_debian"
    grep -q "^    depends_on(\"${in_spack}[\"@ ]" $spack || fail "$spack does not depend on $in_spack"
    [ "$in_easybuild" = - ] || grep -q "^    ('$in_easybuild', '[0-9.]*')" "$easybuild" || fail "$easybuild does not depend on $in_easybuild"
done
# at_least MODULE LIBRARY: the version that configure asks pkg-config for.
at_least() {
    local least name_debian name_spack name_easybuild has
    least=$(grep -oE "$1 >= [0-9.]+" configure.ac m4/xlm_sentencepiece.m4 | head -n 1 | sed 's/.* //')
    [ -n "$least" ] || { fail "configure does not ask for a version of $1"; return; }
    read -r _ name_debian name_spack name_easybuild < <(grep "^$2 " <<<"$libraries")
    grep -qF "$name_debian (>= $least)" $debian/control || fail "$debian/control does not ask for $name_debian $least"
    grep -qF "\"$name_spack@$least:" $spack || fail "$spack does not ask for $name_spack $least"
    has=$(sed -n "s/^    ('$name_easybuild', '\([0-9.]*\)').*/\1/p" "$easybuild")
    [ "$(printf '%s\n' "$least" "$has" | sort -V | head -n 1)" = "$least" ] || fail "$easybuild has $name_easybuild $has, not $least"
}
at_least glib-2.0 GLIB
at_least jansson JANSSON
at_least libarchive LIBARCHIVE
at_least sentencepiece SENTENCEPIECE
grep -q "H5_VERSION_GE(1, 10, 2)" m4/xlm_mpi.m4 && grep -qF 'libhdf5-openmpi-dev (>= 1.10.2)' $debian/control &&
    grep -qF '"hdf5@1.10.2: +mpi"' $spack || fail "recipes and configure ask for different versions of HDF5"
# What may be left out is what a recipe can leave out.
grep -q '^XLM_WITH_LIBRARY(\[ONEDNN\], \[onednn\]' configure.ac && grep -qF 'self.with_or_without("onednn")' $spack &&
    grep -q '^configopts.*--without-onednn' "$easybuild" || fail "recipes and configure differ on oneDNN"
grep -q 'ENABLE(\[mpi-start-check\]' m4/xlm_mpi.m4 || fail "configure has no --disable-mpi-start-check"
for recipe in $debian/rules $spack "$easybuild"; do
    grep -qF -e --disable-mpi-start-check "$recipe" || fail "$recipe starts MPI where it is built"
done

echo "== recipes that are Python can be parsed as Python"
if command -v python3 >/dev/null; then
    # Nothing is run or compiled, and no *.pyc is left.
    parses() { python3 -B -c 'import ast, sys; ast.parse(open(sys.argv[1], encoding="utf-8").read(), sys.argv[1])' "$1" 2>"$scratch/log"; }
    for recipe in $spack packaging/easybuild/*.eb; do
        parses "$recipe" || fail "$recipe: $(tail -n 3 "$scratch/log")"
    done
    sed 's/^version = .*/version = (/' "$easybuild" >"$scratch/recipe.eb"
    parses "$scratch/recipe.eb" && fail "a recipe that cannot be parsed is not found"
fi

echo "== the packages of libraries have the names of their sonames"
IFS=: read -r current _ age < <(sed -n 's/.*-version-info \([0-9:]*\).*/\1/p' src/local.mk)
for package in "libxlm$((current - age))" "libxlm-double$((current - age))"; do
    grep -qx "Package: $package" $debian/control && [ -s "$debian/$package.install" ] || fail "no package $package"
    field Depends libxlm-dev | grep -qx "$package" || fail "libxlm-dev does not depend on $package"
done

echo "== tests of packages: scripts that are there, and what they read of the documents"
names=$(sed -n 's/^Tests: //p' $debian/tests/control)
[ -n "$names" ] || fail "$debian/tests/control names no tests"
for name in $names; do
    [ -x "$debian/tests/$name" ] || fail "$debian/tests/$name is not there, or not executable"
done
blocks=$(grep -oE '\(?block [a-z-]+(\.[a-z]+)?' $debian/tests/plugin | sed 's/.*block //' | sort -u)
[ "$(wc -l <<<"$blocks")" -ge 5 ] || fail "$debian/tests/plugin reads no blocks: $blocks"
for block in $blocks; do
    grep -qxF "<!-- $block -->" docs/plugins.md || fail "docs/plugins.md has no block $block, which $debian/tests/plugin compiles"
done

echo "== containers do the same in the same environment"
for recipe in packaging/Dockerfile packaging/apptainer.def; do
    grep -qE '^ *sh (/tmp|\$TMPDIR)/unpacked/xlm-mpi-\*/packaging/container-build ' $recipe ||
        fail "$recipe does not run container-build"
    grep -oE '(OMPI|XLM)_[A-Za-z_]+=[^ ]+' $recipe | grep -v OMPI_MCA_plm | sort >"$scratch/${recipe##*/}"
done
[ -s "$scratch/Dockerfile" ] && cmp "$scratch/Dockerfile" "$scratch/apptainer.def" || fail "their environments differ"
# While Apptainer runs %post, /tmp and /var/tmp are the host's, without what %files has copied.
! grep -v '^ *#' packaging/apptainer.def | grep '/tmp' || fail "packaging/apptainer.def uses the host's /tmp"
image=$scratch/image
mkdir -p "$image/xlm-mpi-7/packaging" "$image/build"
printf '[ "${1##*/}" = xlm-mpi-7.tar.gz ] && tar tzf "$1" >/dev/null && echo built by "$0"\n' \
    >"$image/xlm-mpi-7/packaging/container-build"
tar czf "$image/build/release.tar.gz" -C "$image" xlm-mpi-7
sed -n '/^%post/,/^$/p' packaging/apptainer.def |
    sed "1d; s,/opt/xlm-mpi-build,$image/build,; s,{{ release }},folder/xlm-mpi-7.tar.gz," >"$image/post"
sh -e "$image/post" >"$image/log" 2>&1 && grep -q '^built by' "$image/log" && [ ! -e "$image/build" ] ||
    fail "packaging/apptainer.def, %post: $(cat "$image/log")"

echo "== every file of packaging/ is in the release"
find packaging -type f ! -name local.mk ! -name '*.pyc' | sort >"$scratch/files"
sed -n '/^EXTRA_DIST/,/[^\\]$/p' packaging/local.mk | grep -oE 'packaging/[^ ]+' | sort | diff "$scratch/files" - ||
    fail "packaging/local.mk: the files above"

echo "== a release and its checksum"
mkdir "$scratch/release"
echo made >"$scratch/release/xlm-mpi-$version.tar.gz"
checksums() { make -s --no-print-directory -C "$XLM_BUILD" checksums RELEASE="$scratch/release" >"$scratch/log" 2>&1; }
holds() { (cd "$scratch/release" && sha256sum --strict -c SHA256SUMS) >/dev/null 2>&1; }
checksums || fail "make checksums: $(cat "$scratch/log")"
holds || fail "SHA256SUMS is not that of the release: $(cat "$scratch/release/SHA256SUMS")"
echo 'made again' >"$scratch/release/xlm-mpi-$version.tar.gz"
holds && fail "SHA256SUMS is also that of another file"
rm "$scratch/release/xlm-mpi-$version.tar.gz"
checksums && fail "a checksum of nothing"
made() { { echo '#!/bin/sh'; cat; } >"$scratch/bin/$1" && chmod a+x "$scratch/bin/$1"; }
mkdir -p "$scratch/bin"
made make-of-release <<'SH'
echo "$1 $TAR_OPTIONS" >>"${0%/*}/../called"
SH
make -s -C "$XLM_BUILD" release MAKE="$scratch/bin/make-of-release" || fail "make release"
[ "$(cut -d' ' -f1 "$scratch/called" | tr '\n' ' ')" = 'dist checksums ' ] || fail "make release calls $(cat "$scratch/called")"
tar_options=$(sed -n 's/^dist //p' "$scratch/called")
grep -qE -e '--mtime=@[0-9]+$' <<<"$tar_options" || fail "make release gives files no time: $tar_options"
! [ -e .git ] || grep -qF -e "@$(git log -1 --format=%ct)" <<<"$tar_options" ||
    fail "the time is not that of the commit: $tar_options"

echo "== a release does not tell who made it, or when"
compressed=$(sed -n 's/^GZIP_ENV = //p' "$XLM_BUILD/Makefile")
# packed FOLDER: as automake packs a folder of releases.
packed() { (cd "$1" && TAR_OPTIONS=$tar_options tar chof - xlm | eval GZIP= gzip $compressed -c) | sha256sum; }
mkdir -p "$scratch/one/xlm/a" "$scratch/two/xlm/a"
(cd "$scratch/one/xlm" && umask 022 && echo 1 >a/b && echo 2 >c && ln -s c d && touch -d @1000000 c)
(cd "$scratch/two/xlm" && umask 002 && echo 2 >c && ln -s c d && echo 1 >a/b && chmod 664 c && chmod 775 a)
[ "$(packed "$scratch/one")" = "$(packed "$scratch/two")" ] || fail "the same files make two tarballs"
echo 3 >"$scratch/two/xlm/c"
[ "$(packed "$scratch/one")" != "$(packed "$scratch/two")" ] || fail "other files make the same tarball"

echo "== build-debs: a source tree of the tarball alone, of its own version; the programs of Debian are made ones"
mkdir -p "$scratch/xlm-mpi-$version/packaging"
cp -r $debian "$scratch/xlm-mpi-$version/packaging/" && chmod -R u+w "$scratch/xlm-mpi-$version"
tar czf "$scratch/xlm-mpi-$version.tar.gz" -C "$scratch" "xlm-mpi-$version"
made dh </dev/null
made dpkg-parsechangelog <<'SH'
sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog
SH
made dpkg-buildpackage <<'SH'
echo "$* $(pwd) $(ls debian/rules ../*.orig.tar.gz | tr '\n' ' ')" >../called
SH
source=$PWD
debs() { PATH=$scratch/bin:$PATH bash "$source/packaging/build-debs" "$@" >"$scratch/log" 2>&1; }
debs "$scratch/xlm-mpi-$version.tar.gz" "$scratch/debs" -b || fail "build-debs: $(cat "$scratch/log")"
grep -qxF -e "-us -uc -b $scratch/debs/xlm-mpi-$version ../xlm-mpi_$version.orig.tar.gz debian/rules " "$scratch/debs/called" ||
    fail "dpkg-buildpackage was called so: $(cat "$scratch/debs/called")"
rm "$scratch/debs/called"
mkdir -p "$scratch/elsewhere/debs/xlm-mpi-$version"
(cd "$scratch" && CDPATH=$scratch/elsewhere debs "xlm-mpi-$version.tar.gz" debs -b) && [ -e "$scratch/debs/called" ] ||
    fail "build-debs with CDPATH: $(cat "$scratch/log")"
[ -d "$scratch/elsewhere/debs/xlm-mpi-$version" ] || fail "build-debs removed what is in another folder, by CDPATH"
mv "$scratch/xlm-mpi-$version" "$scratch/xlm-mpi-0.0.7"
tar czf "$scratch/xlm-mpi-0.0.7.tar.gz" -C "$scratch" xlm-mpi-0.0.7
debs "$scratch/xlm-mpi-0.0.7.tar.gz" "$scratch/debs" -b
[ $? -eq 65 ] || fail "a release of another version than the changelog's is packaged: $(cat "$scratch/log")"

echo "== tests set of Open MPI 4 alone what later versions do not have"
# plm YES|NO: the component that starts ranks, where the MPI is Open MPI 4 or is not, and there is neither ssh nor rsh.
plm() {
    local shell
    shell=$(command -v sh)
    env -i PATH="$scratch/nothing" XLM_SOURCE="$XLM_SOURCE" XLM_BUILD="$scratch" XLM_OPEN_MPI_4="$1" "$shell" -c \
        '. "$XLM_SOURCE/tests/environment.sh"; echo "${OMPI_MCA_plm-none}"' 2>/dev/null
}
[ "$(plm yes)" = isolated ] || fail "tests/environment.sh does not do without ssh: $(plm yes)"
[ "$(plm no)" = none ] || fail "tests/environment.sh names a component of Open MPI 4 to another MPI: $(plm no)"

echo "== configure takes a oneDNN whose threads are OpenMP's, or that has none, and no other"
# onednn RUNTIME: does what configure asserts hold? The numbers are those of dnnl_types.h.
sed -n '/_Static_assert(DNNL_CPU_THREADING_RUNTIME/,/);/p' configure.ac >"$scratch/asserted"
[ -s "$scratch/asserted" ] || fail "configure.ac asserts nothing of oneDNN's threads"
onednn() {
    {
        printf '#define DNNL_RUNTIME_%s %su\n' SEQ 1 OMP 2 TBB 4 THREADPOOL 8
        printf '#define DNNL_CPU_THREADING_RUNTIME DNNL_RUNTIME_%s\n' "$1"
        cat "$scratch/asserted"
    } >"$scratch/onednn.c"
    $XLM_CC -std=gnu11 -fsyntax-only "$scratch/onednn.c" 2>"$scratch/log"
}
for runtime in OMP SEQ; do onednn $runtime || fail "configure refuses a oneDNN of $runtime: $(cat "$scratch/log")"; done
for runtime in TBB THREADPOOL; do onednn $runtime && fail "configure takes a oneDNN of $runtime"; done

echo "== configure refuses what it would not heed, or what fails at the first link"
mkdir "$scratch/configured"
# refuses OPTION PATTERN: before it searches anything.
refuses() {
    (cd "$scratch/configured" && "$XLM_SOURCE/configure" "$1") >"$scratch/log" 2>&1 && fail "configure takes $1"
    grep -q "^configure: error: $2" "$scratch/log" && ! grep -q '^checking' "$scratch/log" ||
        fail "configure $1 says: $(tail -n 2 "$scratch/log")"
}
refuses --libdir="$scratch/a place" 'libtool cannot link for a folder with a blank'
refuses --enable-sanitizers=thread '--enable-sanitizers=thread: takes no value'
refuses --with-onednn=/opt/dnnl '--with-onednn=/opt/dnnl: .*give ONEDNN_CFLAGS and ONEDNN_LIBS'
[ "$failures" -eq 0 ]
