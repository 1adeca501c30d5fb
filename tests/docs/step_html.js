// SPDX-License-Identifier: MIT
// node step_html.js PAGE QKVEC NODE CHROMIUM: walks docs/step.html in a headless
// browser and compares what it shows with the vector. The browser is spoken to
// through a pair of pipes, so nothing but node and Chromium is needed.
//   SHOTS=DIR also takes screenshots, to be looked at.
"use strict";
const { spawn, execFileSync } = require("child_process");
const fs = require("fs"), os = require("os"), path = require("path");
const [page, qkvec, , chromium] = process.argv.slice(2);
let wrong = 0;
const complain = text => { console.log("WRONG: " + text); wrong++; };

/* ---- the browser ---- */

const profile = fs.mkdtempSync(path.join(os.tmpdir(), "step-html-"));
const browser = spawn(chromium, ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe", "--user-data-dir=" + profile, "about:blank"],
  { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const waiting = new Map();
let count = 0, session, buffered = "", onEvent = () => {};
browser.stdio[4].on("data", data => {
  buffered += data;
  for (let end; (end = buffered.indexOf("\0")) >= 0; buffered = buffered.slice(end + 1)) {
    const m = JSON.parse(buffered.slice(0, end));
    if (m.id) { const { resolve, reject } = waiting.get(m.id); waiting.delete(m.id); m.error ? reject(new Error(m.error.message)) : resolve(m.result); } else onEvent(m);
  }
});
const send = (method, params = {}) => new Promise((resolve, reject) => {
  waiting.set(++count, { resolve, reject });
  browser.stdio[3].write(JSON.stringify({ id: count, method, params, ...(session && { sessionId: session }) }) + "\0");
});
async function run(code) {
  const r = await send("Runtime.evaluate", { expression: code, returnByValue: true });
  if (r.exceptionDetails) throw new Error((r.exceptionDetails.exception || {}).description || r.exceptionDetails.text);
  return r.result.value;
}
async function key(name, text) {
  const code = { n: 78, b: 66, Enter: 13, ArrowRight: 39, ArrowDown: 40 }[name];
  for (const type of ["keyDown", "keyUp"]) await send("Input.dispatchKeyEvent", { type, key: name, code: name, windowsVirtualKeyCode: code, ...(text && type === "keyDown" && { text }) });
}
const pause = ms => new Promise(done => setTimeout(done, ms));
async function shot(name) {
  if (!process.env.SHOTS) return;
  await run("scrollTo(0, 0)");
  const { data } = await send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true });
  fs.writeFileSync(path.join(process.env.SHOTS, name + ".png"), Buffer.from(data, "base64"));
}
const size = (width, height, mobile) => send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: mobile ? 2 : 1, mobile });
const theme = value => send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] });

/* ---- what the vector says ---- */

/* The numbers of a stage, as qkvec prints them. */
const numbers = stage => execFileSync(qkvec, ["show", "core/printable", stage], { encoding: "utf8" }).split("\n").slice(1)
  .filter(line => line.startsWith("  ")).join(" ").trim().split(/\s+/).map(Number);
const close = (shown, x) => Math.abs(Number(shown) - x) <= 5e-5 * Math.max(1e-9, Math.abs(x));
/* Unlike 0 and "", text that is no number does not pass for one. */
const cells = where => run(`[...document.querySelectorAll("${where} td")].map(td => td.lastChild.textContent)`);

async function walk() {
  const count = await run("scene.stages.length");
  if (count !== 27) complain(`${count} stages, wanted 27`);
  for (let k = 0; k < count; k++) {
    const stage = await run("scene.stages[at].name"), shown = await cells("#result");
    if (await run("at") !== k) complain(`stage ${k} was not reached`);
    if (!/_rows$|^out_weight_t$/.test(stage)) {
      const wanted = numbers(stage);
      if (shown.length !== wanted.length || !shown.every((x, m) => x !== "" && close(x, wanted[m]))) complain(`${stage} shows ${shown}, the vector has ${wanted}`);
    }
    /* every element's own formula must give the number that is shown, and name cells that are on the page */
    const off = await run(`[...document.querySelectorAll("#result td")].filter(td => { td.click(); const c = compute(scene.stages[at].name, unplace(scene.stages[at].shape, +td.dataset.p));
      return document.querySelector("#element .bad") || !same(c.value, scene.stages[at].v[+td.dataset.p]) || document.querySelectorAll("td.from").length !== new Set(c.from.map(String)).size; }).length`);
    if (off) complain(`${stage}: ${off} elements are not what the formula gives`);
    await run("document.getElementById('next').click()");
  }
  if (!await run("document.getElementById('next').disabled")) complain("the last stage has a next one");
}

async function mistakes() {
  for (let s = 0; s < await run("SCENES.length"); s++) {
    await run(`{ const e = document.getElementById("scene"); e.value = ${s}; e.dispatchEvent(new Event("change")); }`);
    const names = await run("scene.mistakes.map(m => m.name)");
    if (names.length < 3) complain(`scene ${s} has few mistakes`);
    const base = await run(`scene.stages.reduce((n, k, i) => { move(i); return n + [...document.querySelectorAll("#result td")].filter(td => { td.click(); return document.querySelector("#element .bad"); }).length; }, 0)`);
    if (base) complain(`scene ${s}: ${base} elements are not what the formula gives`);
    for (const name of names) {
      await run(`document.querySelector('[data-name="${name}"]').click()`);
      const first = await run("scene.stages.findIndex(s => mistake.stages[s.name])");
      await run(`move(${first})`);
      const seen = await run(`[document.querySelectorAll("#result td.changed").length, document.querySelector('[data-name="${name}"]').getAttribute("aria-pressed"), document.querySelector("pre").textContent, document.getElementById("about").textContent]`);
      if (!seen[0]) complain(`${name} frames nothing at its first stage`);
      if (seen[1] !== "true") complain(`${name} is not pressed`);
      if (!/^- .*\n[^]*^\+ /m.test(seen[2])) complain(`${name} has no diff`);
      if (!/(Caught by|抓住它)/.test(seen[3])) complain(`${name} is caught by nobody`);
      /* where it begins, the formula and the number part; somewhere it does */
      const parts = await run(`[...document.querySelectorAll("#result td.changed")].some(td => { td.click(); return document.querySelector("#element .bad"); })`);
      if (!parts) complain(`${name}: where does it go wrong?`);
      await run(`document.querySelector('[data-name="${name}"]').click()`);
      if (await run("document.querySelectorAll('td.changed').length")) complain(`${name} cannot be switched off`);
    }
  }
  await run(`{ const e = document.getElementById("scene"); e.value = 0; e.dispatchEvent(new Event("change")); }`);
}

async function keyboard() {
  await run("move(12)");
  await key("n", "n");
  if (await run("at") !== 13) complain("n does not go on");
  await key("b", "b");
  if (await run("at") !== 12) complain("b does not go back");
  await key("Enter", "\r");
  if (await run("at") !== 13) complain("Enter does not go on");
  await key("ArrowRight");
  await key("ArrowDown");
  if (await run("document.activeElement.getAttribute('aria-label')") !== "k_proj[0,1,1] 1") complain("arrows: " + await run("document.activeElement.outerHTML"));
  const names = await run(`[...document.querySelectorAll("button, select, table")].filter(e => !(e.textContent.trim() && e.tagName === "BUTTON") && !e.getAttribute("aria-label") && !e.closest("label")).length`);
  if (names) complain(`${names} controls or tables have no name`);
  if (await run("document.querySelectorAll('#result td[tabindex=\"0\"]').length") !== 1) complain("not one element in the order of the tab key");
}

async function languages() {
  await run("document.getElementById('language').click()");
  if (await run("document.documentElement.lang") !== "zh" || !/步骤|下一步/.test(await run("document.body.innerText"))) complain("no Chinese");
  if (await run(`Object.keys(TEXT.en).join() !== Object.keys(TEXT.zh).join() || scene.mistakes.some(m => !/[\\u4e00-\\u9fff]/.test(m.why.zh))`)) complain("a text is missing in Chinese");
  await shot("chinese");
  await run("document.getElementById('language').click()");
}

async function sizes() {
  const fits = () => run("document.documentElement.scrollWidth <= document.documentElement.clientWidth");
  for (const [width, height] of [[360, 740], [320, 640]]) {
    await size(width, height, true);
    for (let s = 0; s < 3; s++) {
      await run(`{ const e = document.getElementById("scene"); e.value = ${s}; e.dispatchEvent(new Event("change")); }`);
      for (let k = 0; k < 27; k++) {
        await run(`move(${k})`);
        if (!await fits()) complain(`stage ${k + 1} of scene ${s} is wider than ${width} pixels`);
      }
    }
  }
  await run(`{ const e = document.getElementById("scene"); e.value = 0; e.dispatchEvent(new Event("change")); }`);
  await size(375, 812, true);
  await run("move(19)");
  await shot("phone");
  await run(`document.querySelector('[data-name="scale_none"]').click()`);
  await shot("phone_mistake");
  await size(1200, 900, false);
  await shot("desktop_mistake");
  await theme("dark");
  await shot("dark_mistake");
  await run(`document.querySelector('[data-name="scale_none"]').click(); move(16); choose(8)`);
  await shot("dark");
  await theme("light");
  await shot("desktop");
  await run(`{ const e = document.getElementById("scene"); e.value = 1; e.dispatchEvent(new Event("change")); } move(21); document.querySelector('[data-name="zero_attn_ignored"]').click()`);
  await shot("appended");
}

async function main() {
  const target = await send("Target.createTarget", { url: "about:blank" });
  session = (await send("Target.attachToTarget", { targetId: target.targetId, flatten: true })).sessionId;
  onEvent = m => {
    if (m.method === "Runtime.exceptionThrown") complain("exception: " + JSON.stringify(m.params.exceptionDetails).slice(0, 500));
    if (m.method === "Runtime.consoleAPICalled" || (m.method === "Log.entryAdded" && m.params.entry.level === "error")) complain("console: " + JSON.stringify(m.params).slice(0, 500));
    if (m.method === "Network.requestWillBeSent" && !/^(file|data|about):/.test(m.params.request.url)) complain("it asks the network: " + m.params.request.url);
  };
  for (const domain of ["Runtime", "Log", "Network", "Page"]) await send(domain + ".enable");
  await size(1200, 900, false);
  await send("Page.navigate", { url: "file://" + path.resolve(page) });
  for (let k = 0; k < 100 && !await run("document.readyState === 'complete' && typeof SCENES !== 'undefined'").catch(() => false); k++) await pause(100);
  if (await run("lang") !== "en") await run("document.getElementById('language').click()");
  if (fs.statSync(page).size > 60 * 1024) complain(`${fs.statSync(page).size} bytes are more than 60 KB`);
  for (const part of [walk, mistakes, keyboard, languages, sizes]) await part();
}

const timer = setTimeout(() => { complain("no end after four minutes"); browser.kill(); process.exit(1); }, 240000);
main().catch(e => complain(String(e.stack))).finally(async () => {
  clearTimeout(timer);
  const gone = new Promise(done => browser.once("exit", done));
  browser.kill("SIGKILL");
  await gone;
  try { fs.rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }); } catch (e) { /* a child of the browser still writes there */ }
  console.log(wrong ? `${wrong} wrong` : "all stages, mistakes, keys and both languages: as they should be");
  process.exit(wrong ? 1 : 0);
});
