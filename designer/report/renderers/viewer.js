"use strict";
(() => {
  const desk = document.getElementById("desk"), tip = document.getElementById("tip");
  const state = document.getElementById("state"), workload = document.getElementById("workload");
  const sections = [...desk.querySelectorAll("section")];
  let shown = sections[0], held = null, moved = false;

  const svg = () => shown.querySelector("svg");
  const whole = drawing => drawing.dataset.whole || (drawing.dataset.whole = drawing.getAttribute("viewBox"));
  const box = () => svg().getAttribute("viewBox").split(" ").map(Number);
  const look = b => { whole(svg()); svg().setAttribute("viewBox", b.map(v => v.toFixed(2)).join(" ")); };

  function show() {
    const wanted = sections.filter(s => s.dataset.state === (state ? state.value : ""));
    const next = wanted.find(s => s.dataset.workload === (workload ? workload.value : "")) || wanted[0];
    if (!next) return;
    shown.hidden = true; shown = next; shown.hidden = false; tip.hidden = true;
  }

  /* scene units of a place on the screen */
  function place(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg().getScreenCTM().inverse());
    return [at.x, at.y];
  }

  function zoom(factor, x, y) {
    const [left, top, width, height] = box(), full = whole(svg()).split(" ").map(Number);
    const f = Math.min(Math.max(factor, 0.02 * full[2] / width), 4 * full[2] / width);
    look([x - (x - left) * f, y - (y - top) * f, width * f, height * f]);
  }

  desk.addEventListener("wheel", event => {
    event.preventDefault();
    zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), ...place(event));
  }, { passive: false });

  desk.addEventListener("pointerdown", event => { held = place(event); moved = false; });
  window.addEventListener("pointerup", () => { held = null; desk.classList.remove("held"); });
  desk.addEventListener("pointermove", event => {
    if (held) {
      const [x, y] = place(event), b = box();
      if (Math.abs(x - held[0]) + Math.abs(y - held[1]) > b[2] / 400) moved = true;
      if (moved) { desk.classList.add("held"); look([b[0] + held[0] - x, b[1] + held[1] - y, b[2], b[3]]); }
    }
    const text = event.target.dataset ? event.target.dataset.t : "";
    tip.hidden = !text || Boolean(held && moved);
    if (!text) return;
    tip.textContent = text;
    const edge = desk.getBoundingClientRect();
    tip.style.left = Math.min(event.clientX - edge.left + 14, edge.width - tip.offsetWidth - 8) + "px";
    tip.style.top = Math.min(event.clientY - edge.top + 14, edge.height - tip.offsetHeight - 8) + "px";
  });
  desk.addEventListener("pointerleave", () => { tip.hidden = true; });

  desk.addEventListener("click", event => {
    const group = event.target.dataset ? event.target.dataset.g : "";
    if (moved || !group || !state) return;
    state.value = state.value === group ? "" : group;
    if (!state.value && state.value !== group) state.value = "";
    show();
  });

  desk.addEventListener("keydown", event => {
    const b = box(), step = b[2] / 12, moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key in moves) look([b[0] + step * moves[event.key][0], b[1] + step * moves[event.key][1], b[2], b[3]]);
    else if (event.key === "+" || event.key === "=") zoom(0.8, b[0] + b[2] / 2, b[1] + b[3] / 2);
    else if (event.key === "-") zoom(1.25, b[0] + b[2] / 2, b[1] + b[3] / 2);
    else if (event.key === "0") look(whole(svg()).split(" ").map(Number));
    else return;
    event.preventDefault();
  });

  document.getElementById("whole").addEventListener("click", () => look(whole(svg()).split(" ").map(Number)));
  for (const chooser of [state, workload]) if (chooser) chooser.addEventListener("change", show);
})();
