// What pages need beyond htmx: sliders beside exact fields, light and dark, copying.
"use strict";

function bindSliders(within) {
  for (const range of within.querySelectorAll("input[type=range][data-for]")) {
    if (range.dataset.bound !== undefined) continue;
    range.dataset.bound = "";
    const exact = document.getElementById(range.dataset.for);
    const powers = range.dataset.powers !== undefined;
    const follow = () => {
      const value = Number.parseFloat(exact.value);
      if (Number.isFinite(value)) range.value = powers ? Math.log10(value) : value;
    };
    follow();
    exact.addEventListener("input", follow);
    range.addEventListener("input", (event) => {
      event.stopPropagation();
      exact.value = powers ? `1e${range.value}` : range.value;
    });
    range.addEventListener("change", (event) => {
      event.stopPropagation();
      exact.dispatchEvent(new Event("input", { bubbles: true }));
    });
  }
}

function bindPlanned(within) {
  for (const radio of within.querySelectorAll("input[name=planned]")) {
    if (radio.dataset.bound !== undefined) continue;
    radio.dataset.bound = "";
    radio.addEventListener("change", () => {
      for (const slider of document.querySelectorAll(".slider")) {
        const exact = slider.querySelector("input:not([type=range])");
        const planned = exact.id === `s-${radio.value}`;
        const plan = document.getElementById("plan");
        if (exact.disabled && !planned && !exact.value) exact.value = plan.dataset.value ?? "";
        exact.disabled = planned;
        exact.placeholder = planned ? "computed" : "";
        if (planned) exact.value = "";
        slider.querySelector("input[type=range]").disabled = planned;
      }
    }, true);
  }
}

// The field that the plan computes shows what came out, and its slider stands there.
function showSolved() {
  const plan = document.getElementById("plan");
  const exact = plan && plan.dataset.solved && document.getElementById(`s-${plan.dataset.solved}`);
  if (!exact || !exact.disabled) return;
  exact.placeholder = plan.dataset.value;
  const range = exact.closest(".slider").querySelector("input[type=range]");
  range.value = range.dataset.powers === undefined ? plan.dataset.value : Math.log10(plan.dataset.value);
}

function bindConfirm(within) {
  for (const typed of within.querySelectorAll("[data-confirm]")) {
    const follow = () => {
      typed.form.querySelector("[data-confirmed]").disabled = typed.value !== typed.dataset.confirm;
    };
    if (typed.dataset.bound === undefined) typed.addEventListener("input", follow);
    typed.dataset.bound = "";
    follow();
  }
}

// A file that is dropped or chosen is copied to the studio, which answers with the page to go on with.
function bindUpload(within) {
  for (const zone of within.querySelectorAll("[data-upload]")) {
    if (zone.dataset.bound !== undefined) continue;
    zone.dataset.bound = "";
    const chooser = zone.querySelector("input[type=file]");
    const progress = zone.querySelector("progress");
    const copy = (file) => {
      const asked = new XMLHttpRequest();
      const encoding = document.getElementById("encoding").value;
      asked.open("POST", `${zone.dataset.upload}&name=${encodeURIComponent(file.name)}&encoding=${encoding}`);
      asked.setRequestHeader("HX-Request", "true");
      asked.upload.addEventListener("progress", (event) => { progress.value = event.loaded / event.total; });
      asked.addEventListener("loadend", () => {
        const next = asked.getResponseHeader("HX-Redirect");
        if (next) return location.assign(next);
        progress.hidden = true;
        chooser.value = "";
        const said = document.getElementById("refused");
        if (asked.status) said.outerHTML = asked.responseText;
        else said.textContent = "The file was not copied: the studio does not answer.";
      });
      progress.hidden = false;
      asked.send(file);
    };
    chooser.addEventListener("change", () => { if (chooser.files.length) copy(chooser.files[0]); });
    zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
    zone.addEventListener("dragleave", () => zone.classList.remove("over"));
    zone.addEventListener("drop", (event) => {
      event.preventDefault();
      zone.classList.remove("over");
      if (event.dataTransfer.files.length) copy(event.dataTransfer.files[0]);
    });
  }
}

function fieldNamed(name) {
  return document.querySelector(`[name="${CSS.escape(name)}"]:not([type=hidden])`) ?? document.querySelector(`[data-column="${CSS.escape(name)}"]`);
}

// A refusal is said at the field too, once something was typed there.
function markWrong() {
  for (const one of document.querySelectorAll(".wrong")) one.remove();
  for (const one of document.querySelectorAll("[aria-invalid]")) one.removeAttribute("aria-invalid");
  for (const said of document.querySelectorAll("[data-wrong]")) {
    const field = fieldNamed(said.dataset.wrong);
    if (!field || !field.value) continue;
    const words = document.createElement("p");
    words.className = "wrong";
    words.id = "wrong-field";
    words.textContent = said.firstElementChild.textContent;
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-errormessage", words.id);
    field.after(words);
  }
}

// A link to a field opens whatever it is folded into.
function goToField() {
  const name = location.hash.startsWith("#at=") && decodeURIComponent(location.hash.slice(4));
  const field = name && fieldNamed(name);
  if (!field) return;
  for (let above = field; above; above = above.parentElement) if (above.tagName === "DETAILS") above.open = true;
  field.scrollIntoView({ block: "center" });
  field.focus();
}
window.addEventListener("hashchange", goToField);

function bind(within) {
  bindUpload(within);
  markWrong();
  bindSliders(within);
  bindPlanned(within);
  bindConfirm(within);
  showSolved();
}

document.addEventListener("DOMContentLoaded", () => {
  bind(document);
  goToField();
});
document.addEventListener("htmx:afterSettle", () => bind(document));
document.addEventListener("job-ended", () => location.reload());

document.addEventListener("click", (event) => {
  const toggle = event.target.closest("[data-theme-toggle]");
  if (toggle) {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // It lasts until the next page.
    }
  }
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    navigator.clipboard.writeText(copy.closest("details").querySelector("code").textContent).then(() => {
      copy.textContent = "Copied";
    });
  }
  const back = event.target.closest("[data-back]");
  if (back && history.length > 1) {
    event.preventDefault();
    history.back();
  }
});

// What was typed last is kept before another page is opened: a click on its way waits for the answer.
let asking = 0;
let going = null;
// Counted at the request itself: an element that was replaced meanwhile tells the page nothing more.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.requestConfig.verb !== "post") return;
  asking += 1;
  event.detail.xhr.addEventListener("loadend", () => {
    asking -= 1;
    setTimeout(goOn);
  });
});
function goOn() {
  if (asking > 0 || going === null) return;
  const { href, onward } = going;
  going = null;
  // The way on may be closed by what was typed.
  if (!onward || document.querySelector("#onward a.primary")?.href === href) location.assign(href);
}
document.addEventListener("click", (event) => {
  const link = event.target.closest(".steps a, #onward a, #summary a, .top a");
  if (!link || asking === 0 || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  going = { href: link.href, onward: link.matches("#onward a.primary") };
});

// A press takes longer than an answer: a link that is replaced between down and up gets no click of its own.
let pressed = null;
document.addEventListener("pointerdown", (event) => { pressed = event.target.closest("a"); });
document.addEventListener("pointerup", (event) => {
  if (!pressed || pressed.isConnected) return;
  const link = document.elementFromPoint(event.clientX, event.clientY)?.closest("a");
  if (link?.href === pressed.href) link.click();
});

// A page that comes back from the browser's memory may be older than the draft.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
