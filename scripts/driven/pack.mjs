// A picture as WebP: node pack.mjs CHROMIUM FROM.png TO.webp QUALITY, where playwright-core is installed.
import { readFileSync, writeFileSync } from "node:fs";
import { chromium } from "playwright-core";
const [program, from, to, quality] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
const page = await browser.newPage();
const packed = await page.evaluate(async ([picture, quality]) => {
  const image = await createImageBitmap(await (await fetch(picture)).blob());
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  canvas.getContext("2d").drawImage(image, 0, 0);
  return canvas.toDataURL("image/webp", quality);
}, [`data:image/png;base64,${readFileSync(from, "base64")}`, Number(quality)]);
writeFileSync(to, Buffer.from(packed.split(",")[1], "base64"));
await browser.close();
