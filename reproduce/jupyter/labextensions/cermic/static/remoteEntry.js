// SPDX-License-Identifier: Apache-2.0
// What JupyterLab loads for the notebooks of this repository, without a build: figures keep letters of 9 pixels in narrow windows and have a dark ground
// in dark themes, and a notebook that opens while its training goes on says so.
(() => {
  const css = `
.jp-OutputArea-output.jp-RenderedImage, .jp-OutputArea-output.jp-RenderedSVG { overflow-x: auto }
body[data-jp-theme-light="false"] :is(.jp-RenderedImage img, .jp-RenderedSVG img, img[alt^="film of"]) { filter: invert(0.92) hue-rotate(180deg) }
.cermic-notice { padding: 4px 12px; color: var(--jp-ui-font-color1); background: var(--jp-warn-color3); font-size: var(--jp-ui-font-size1) }
body[data-jp-theme-light="false"] .cermic-notice { background: var(--jp-layout-color3) }
`;
  const smallest = 0.62; // of a figure's own width: letters of 7.5 points at 140 dots an inch have then 9 pixels
  const notices = new WeakMap();

  // sized keeps figures from shrinking below what can be read.
  function sized(root) {
    for (const image of root.querySelectorAll(".jp-RenderedImage img, .jp-RenderedSVG img")) {
      if (image.naturalWidth) {
        image.style.minWidth = Math.round(smallest * image.naturalWidth) + "px";
      }
    }
  }

  // reason says why a notebook that has run nothing on this page yet is not at rest; empty if it is.
  function reason(panel, left) {
    if (left.length > 0) {
      return `Training goes on without a page: ${left.join("; ")}. Run its cell to see it.`;
    }
    if (panel.sessionContext.session?.kernel?.status === "busy") {
      return "The kernel runs a cell that another page has started. Run the same cell here to take it over, or stop it with the stop button.";
    }
    return "";
  }

  // trained is what is trained without a page, as the kernel says: asked for again when a cell has ended, which may have left a training behind while this
  // page was loaded, and from time to time until such a training ends.
  async function trained(kernel, state) {
    const busy = kernel.status === "busy", age = Date.now() - state.asked;
    if (kernel.connectionStatus !== "connected") {
      state.asked = 0;
    } else if ((state.busy && !busy && age > 2000) || (state.left.length > 0 && age > 10000) || state.asked === 0) {
      state.asked = Date.now();
      state.left = (await kernel.requestKernelInfo())?.content?.cermic_left ?? [];
      state.busy = busy;
    }
    state.busy = state.busy || busy;
    return state.left;
  }

  // notice shows the reason above a notebook until one of its cells runs here.
  async function notice(panel) {
    const kernel = panel.sessionContext?.session?.kernel;
    if (!kernel || !panel.content?.widgets) {
      return;
    }
    let state = notices.get(panel);
    if (!state || state.kernel !== kernel.id) {
      state = { kernel: kernel.id, ran: false, node: state?.node, left: [], busy: false, asked: 0 };
      notices.set(panel, state);
    }
    state.ran = state.ran || panel.content.widgets.some(w => w.model.type === "code" && w.model.executionState === "running");
    const text = state.ran ? "" : reason(panel, await trained(kernel, state));
    if (!text) {
      state.node?.remove();
      return;
    }
    state.node = state.node ?? document.createElement("div");
    state.node.className = "cermic-notice";
    state.node.textContent = text;
    if (!state.node.isConnected) {
      panel.toolbar.node.after(state.node);
      Object.assign(state.node.style, { position: "absolute", left: 0, right: 0, zIndex: 10, top: panel.toolbar.node.offsetHeight + "px" });
    }
  }

  const plugin = {
    id: "cermic:notebooks",
    autoStart: true,
    activate: app => {
      const style = document.createElement("style");
      style.textContent = css;
      document.head.append(style);
      setInterval(() => {
        for (const panel of app.shell.widgets("main")) {
          sized(panel.node);
          notice(panel).catch(() => {});
        }
      }, 500);
    },
  };
  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB.cermic = { init: () => {}, get: () => Promise.resolve(() => ({ __esModule: true, default: plugin })) };
})();
