"use strict";
// Holds files that are dropped on the page against the hashes in it and in certificate.json; nothing leaves the page.
const place = document.getElementById("check");
const said = document.getElementById("check-said");
const known = new Map([...place.querySelectorAll("[data-sha256]")].map((one) => [one.dataset.name, one.dataset.sha256]));

async function sha256(file) {
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function certified(files) {
  const file = files.find((one) => one.name === "certificate.json");
  try {
    return file ? new Map(Object.entries(JSON.parse(await file.text()).facts.files)) : null;
  } catch {
    return null;
  }
}

function line(kind, ...texts) {
  const item = document.createElement("li");
  item.className = kind;
  const [first, ...rest] = texts;
  const name = document.createElement("bdi");
  name.textContent = first;
  item.append(name, ...rest);
  return item;
}

async function check(files) {
  said.replaceChildren();
  const stated = await certified(files);
  let wrong = 0;
  let right = 0;
  for (const file of files) {
    if (file.name === "certificate.json") {
      const broken = stated === null || [...known].some(([name, hash]) => stated.get(name) !== hash);
      wrong += broken;
      said.append(broken ? line("bad", file.name, ": other hashes than this page. They are of different releases, or one was changed.") : line("good", file.name, ": the same hashes as this page."));
      continue;
    }
    const wanted = [known.get(file.name), stated?.get(file.name)].filter(Boolean);
    if (!wanted.length) {
      said.append(line("", file.name, file.name === "report.html" ? ": its hash is in certificate.json. Drop that too." : ": not one of the certified files. Not checked."));
      continue;
    }
    const found = await sha256(file);
    const same = wanted.every((hash) => hash === found);
    wrong += !same;
    right += same;
    said.append(same ? line("good", file.name, ": unchanged, the certified bytes.") : line("bad", file.name, ": CHANGED. These are not the bytes that were certified."));
  }
  const missing = [...known.keys()].filter((name) => !files.some((file) => file.name === name));
  if (missing.length) said.append(line("", missing.join(", "), ": not dropped, and so not checked."));
  said.append(line(wrong ? "bad" : "", wrong ? "Do not use these files." : `${right} checked by SHA-256.`, " Not checked here: whether the guarantee follows from its derivation, whether the numbers in the data keep to it, and who wrote the certificate. crowdblend verify checks these."));
}

if (globalThis.crypto?.subtle) {
  document.getElementById("check-here").hidden = false;
  const take = (files) => check([...files]).catch(() => said.replaceChildren(line("bad", "A file could not be read. Try again.")));
  document.getElementById("check-files").addEventListener("change", (event) => take(event.target.files));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files);
    place.scrollIntoView();
  });
}
