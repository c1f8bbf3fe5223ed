# xlm-mpi: recipe for Spack 1.0 and later, with packages of spring 2026 or later, which have SentencePiece 0.2.1.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# In a folder of a repository of your own (spack repo create), as packages/xlm_mpi/package.py. A release has no address that Spack
# could fetch it from: check it by its SHA256SUMS, and start Spack where the tarball lies, with
#     spack install --no-checksum xlm-mpi

import os

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import *


class XlmMpi(AutotoolsPackage):
    """Pre-trains, aligns, fine-tunes and studies cross-lingual language models on CPU clusters, with MPI, BLIS and parallel
    HDF5. The results do not depend on the number of ranks."""

    url = f"file://{os.getcwd()}/xlm-mpi-1.0.0.tar.gz"
    manual_download = True

    license("GPL-3.0-or-later", checked_by="xlm-mpi")

    version("1.0.0")

    variant("onednn", default=True, description="Matrix products in bfloat16 by oneDNN")
    variant("gnuplot", default=True, description="Figures of xlm_report")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("mpi@3:")
    depends_on("hdf5@1.10.2: +mpi")
    depends_on("blis threads=openmp libs=shared")
    depends_on("lapack")
    depends_on("scalapack")
    depends_on("onednn@2:3 cpu_runtime=omp", when="+onednn")
    depends_on("sleef")
    depends_on("glib@2.68:")
    depends_on("icu4c")
    depends_on("jansson@2.11:")
    depends_on("sentencepiece@0.1.97:")
    depends_on("libxml2")
    depends_on("zlib-api")
    depends_on("libarchive@3.4:")
    depends_on("gsl")
    depends_on("bash", type=("build", "run"))
    depends_on("gnuplot", type="run", when="+gnuplot")

    def configure_args(self):
        spec = self.spec
        return [
            "MPICC=" + spec["mpi"].mpicc,
            "HDF5_CFLAGS=" + spec["hdf5"].headers.include_flags,
            "HDF5_LIBS=" + spec["hdf5"].libs.ld_flags,
            # Its header lies in a folder of its own, and includes none of its neighbours.
            "BLIS_CFLAGS=-I" + spec["blis"].prefix.include.blis,
            "BLIS_LIBS=" + spec["blis"].libs.ld_flags,
            "SCALAPACK_LIBS=" + (spec["scalapack"].libs + spec["lapack"].libs).ld_flags,
            # Where packages are built, as on a login node, MPI can often not be started.
            "--disable-mpi-start-check",
        ] + self.with_or_without("onednn")

    def test_version(self):
        """xlm_train says its version"""
        program = which(self.prefix.bin.xlm_train)
        assert str(self.version) in program("--version", output=str.split, error=str.split)
