// SPDX-License-Identifier: Apache-2.0
// JupyterLab's extension for the notebooks of this repository, loaded without a build:
// - figures keep letters of 9 pixels in narrow windows and have a dark ground in dark themes;
// - a notebook that opens while its training goes on says so;
// - variables with a comment "// @param" are menus, sliders and fields above their cell, which change its source and
//   run it;
// - buttons of cells run them with the request to train, and controls send their positions to the kernel while their
//   cell runs.
(() => {
  const css = `
.jp-OutputArea-output.jp-RenderedImage, .jp-OutputArea-output.jp-RenderedSVG { overflow-x: auto }
body[data-jp-theme-light="false"] :is(.jp-RenderedImage img, .jp-RenderedSVG img, img[alt^="film of"]) { filter: invert(0.92) hue-rotate(180deg) }
.cermic-notice { padding: 4px 12px; color: var(--jp-ui-font-color1); background: var(--jp-warn-color3); font-size: var(--jp-ui-font-size1) }
body[data-jp-theme-light="false"] .cermic-notice { background: var(--jp-layout-color3) }
.cermic-controls, .cermic-form { display: flex; flex-wrap: wrap; gap: .3em 1.5em; align-items: center }
.jp-Cell:has(> .cermic-form) { display: flex; flex-direction: column }
.cermic-form { order: -1000; padding: 6px 12px; font-size: var(--jp-ui-font-size1); color: var(--jp-ui-font-color1) }
.cermic-form input[type=number] { width: 5em }
.cermic-form select { max-width: 16em }
:is(.cermic-controls, .cermic-form) input[type=range] { width: 14em; vertical-align: middle }
.cermic-controls:not(.cermic-live) label { opacity: .4 }
.cermic-controls:not(.cermic-live) output, .cermic-controls:not(.cermic-live) input::-webkit-slider-thumb { visibility: hidden }
.cermic-controls:not(.cermic-live) select { color: transparent }
.cermic-controls.cermic-live .cermic-hint { display: none }
`;
  const smallest = 0.62; // of a figure's own width: letters of 7.5 points at 140 dots an inch have then 9 pixels
  const notices = new WeakMap();

  // sized keeps figures from shrinking below a readable size.
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

  // trained lists the trainings that run without a page, as reported by the kernel. It requests the list again when a
  // cell has ended, which may have left a training behind while this page was loaded. It also repeats the request from
  // time to time until such a training ends.
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

  // A line of a cell: var alpha = 0.2 // @param slider 0 1 0.05. Options of a menu stand behind @param, separated by
  // commas, also on further lines of comments.
  const param = /^[ \t]*(?:var )?(\w+)[ \t]*=([^\n]*?)\/\/ @param[ \t]*([^\n]*(?:\n[ \t]*\/\/(?! @param)[^\n]*)*)/gm;
  const literal = /"[^"]*"|-?\d[\d.]*/;

  // params are the variables of a source that a form sets.
  function params(source) {
    return [...source.matchAll(param)].map(([, name, value, about]) => {
      const written = value.match(literal)?.[0] ?? "", text = written.startsWith('"');
      const options = about.split(/,|\n[ \t]*\/\//).map(o => o.trim()).filter(o => o);
      const [kind, ...range] = about.trim().split(/\s+/);
      return { name, text, value: text ? written.slice(1, -1) : written, slider: kind === "slider" ? range : null, options: kind === "slider" ? [] : options };
    });
  }

  // assigned is a source with another value of a variable.
  function assigned(source, name, value) {
    return source.replace(param, (line, found, before) => {
      const written = before.match(literal)?.[0];
      return found === name ? line.replace(before, before.replace(literal, written?.startsWith('"') ? `"${value}"` : value)) : line;
    });
  }

  const idle = cell => cell.model.executionState === "idle" && cell.prompt !== "*";

  // run runs a cell, or it and all below.
  function run(app, panel, cell, below) {
    const book = panel.content;
    book.activeCellIndex = book.widgets.indexOf(cell);
    book.deselectAll();
    return app.commands.execute(below ? "notebook:run-all-below" : "notebook:run-cell");
  }

  // form shows the variables of a cell above it. When one changes, a cell without statements runs with all cells below,
  // since they use it.
  function form(app, panel, cell) {
    const source = cell.model.sharedModel.source, found = source.includes("// @param") ? params(source) : [], key = JSON.stringify(found);
    let node = cell.node.querySelector(":scope > .cermic-form");
    if (found.length === 0 || node?.dataset.key === key) {
      return;
    }
    node?.remove();
    node = document.createElement("div");
    node.className = "cermic-form";
    node.dataset.key = key;
    node.dataset.lmSuppressShortcuts = "true";
    for (const p of found) {
      const field = document.createElement(p.options.length > 0 ? "select" : "input"), label = document.createElement("label"), shown = document.createElement("output");
      field.name = p.name;
      for (const o of p.options) {
        field.append(new Option(o, o, false, o === p.value));
      }
      if (p.slider) {
        [field.min, field.max, field.step] = p.slider;
        field.type = "range";
        shown.value = p.value;
        field.addEventListener("input", () => (shown.value = field.value));
      } else if (p.options.length === 0) {
        field.type = p.text ? "text" : "number";
      }
      field.value = p.value;
      field.addEventListener("change", () => {
        if (field.value === "" || !field.checkValidity()) { // a number that is none
          field.value = p.value;
          return;
        }
        p.value = field.value;
        const next = assigned(cell.model.sharedModel.source, p.name, field.value.replace(/["\\]/g, ""));
        node.dataset.key = JSON.stringify(params(next));
        cell.model.sharedModel.setSource(next);
        run(app, panel, cell, !/^%%/m.test(next));
      });
      label.append((p.name === "alpha" ? "α" : p.name) + " ", field, shown);
      node.append(label);
    }
    cell.node.prepend(node);
  }

  // tell sends the kernel the state of a page's buttons and controls; see relay.py.
  function tell(panel, content) {
    const kernel = panel.sessionContext.session.kernel;
    const header = { msg_id: crypto.randomUUID?.() ?? String(Math.random()), msg_type: "cermic", username: "", session: kernel.clientId, date: new Date().toISOString(), version: "5.3" };
    kernel.sendShellMessage({ channel: "shell", header, parent_header: {}, metadata: {}, content, buffers: [] });
  }

  // press runs the cell of a button with the request to train. A second press of it finds the cell running.
  function press(app, button) {
    const panel = [...app.shell.widgets("main")].find(w => w.node.contains(button));
    const cell = panel?.content?.widgets?.find(w => w.node.contains(button));
    const says = button.classList;
    if (!cell || !idle(cell) || !panel.sessionContext.session?.kernel) {
      return;
    }
    if (says.contains("cermic-ask") && !confirm(`${button.previousElementSibling?.textContent ?? ""} ${button.textContent}?`)) {
      return;
    }
    button.disabled = true;
    tell(panel, { cell: cell.model.id, train: says.contains("cermic-stop") ? "stop" : says.contains("cermic-again") ? "again" : "train" });
    run(app, panel, cell, says.contains("cermic-below"));
  }

  // controls brings the sliders, menus and buttons of a cell that runs to life, and sends their positions once, and whenever one moves.
  function controls(panel, cell) {
    for (const row of cell.node.querySelectorAll(".cermic-controls")) {
      const live = cell.model.executionState === "running", knobs = [...row.querySelectorAll("[data-name]")];
      const send = () => tell(panel, { controls: { id: row.dataset.cermicControls, positions: Object.fromEntries(knobs.map(k => [k.dataset.name, k.value])) } });
      if (live && !row.dataset.followed) {
        row.dataset.followed = "true";
        for (const k of knobs) {
          const moved = () => {
            if (k.nextElementSibling) { k.nextElementSibling.value = k.value; }
            send();
          };
          if (k.type === "submit") { k.addEventListener("click", () => { k.value = +k.value + 1; send(); }); } // a button
          k.addEventListener("input", moved);
          k.addEventListener("change", moved); // all that some ways of choosing from a menu bring
        }
        send();
      }
      row.classList.toggle("cermic-live", live);
      for (const k of knobs) { k.disabled = !live; }
    }
  }

  const plugin = {
    id: "cermic:notebooks",
    autoStart: true,
    activate: app => {
      const style = document.createElement("style");
      style.textContent = css;
      document.head.append(style);
      // A browser keeps a page that was left by a link or an address for the button "back", its connection open: the
      // kernel would go on as if somebody looked.
      addEventListener("pagehide", () => [...app.shell.widgets("main")].forEach(w => w.sessionContext?.session?.kernel?.dispose()));
      addEventListener("pageshow", event => event.persisted && location.reload());
      document.addEventListener("click", event => event.target.closest?.(".cermic-train") && press(app, event.target.closest(".cermic-train")));
      setInterval(() => {
        for (const panel of app.shell.widgets("main")) {
          sized(panel.node);
          notice(panel).catch(() => {});
          for (const cell of panel.content?.widgets?.filter(w => w.model?.type === "code") ?? []) {
            form(app, panel, cell);
            controls(panel, cell);
          }
        }
      }, 500);
    },
  };
  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB.cermic = { init: () => {}, get: () => Promise.resolve(() => ({ __esModule: true, default: plugin })) };
})();
