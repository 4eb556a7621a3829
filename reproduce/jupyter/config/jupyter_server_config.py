# SPDX-License-Identifier: Apache-2.0
# JupyterLab's settings for the notebooks of this repository, in addition to the user's own.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
c.ServerApp.contents_manager_class = "cermic_contents.Notebooks"  # noqa: F821
# JupyterLab requests neither news nor updates over the network.
c.LabApp.news_url = None  # noqa: F821
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"  # noqa: F821
c.ServerApp.kernel_manager_class = "cermic_contents.Kernels"  # noqa: F821
