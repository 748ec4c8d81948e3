// Labels whose contrast to what is painted behind them is under `least` (WCAG 2.2, 1.4.3): [[text, ratio, colours], ...].
(least) => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, ground) => [0, 1, 2].map((at) => top[at] * top[3] + ground[at] * (1 - top[3]));
  const luminance = (colour) => {
    const [r, g, b] = colour.map((part) => part / 255).map((x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const opacity = (element) => {
    let found = 1;
    for (let one = element; one; one = one.parentElement) found *= Number(getComputedStyle(one).opacity);
    return found;
  };
  const paper = (element) => { // what the boxes around it are painted with
    const layers = [];
    for (let one = element; one; one = one.parentElement ?? one.getRootNode().host) {
      layers.push(rgba(getComputedStyle(one).backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    const scheme = getComputedStyle(document.documentElement).colorScheme.startsWith("dark") ? [18, 18, 18] : [255, 255, 255];
    return layers.reduceRight((ground, layer) => over(layer, ground), scheme);
  };
  const holds = (shape, x, y) => {
    const box = shape.getBoundingClientRect();
    return box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
  };
  const behind = (text) => { // the last rectangle of its drawing that is painted before it, where it is
    const drawing = text.closest("svg");
    const box = text.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    let ground = paper(drawing);
    for (const shape of drawing.querySelectorAll("rect")) {
      if (shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_PRECEDING) break;
      const style = getComputedStyle(shape);
      if (style.fill !== "none" && holds(shape, x, y)) ground = over(rgba(style.fill), ground);
    }
    return ground;
  };
  const shown = (element) => {
    const box = element.getBoundingClientRect();
    return element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && box.width > 1 && box.height > 1;
  };
  const judged = (text, colour, ground, clear) => {
    const [r, g, b, a] = rgba(colour);
    const ratio = contrast(over([r, g, b, a * clear], ground), ground);
    return ratio < least ? [[text.trim().slice(0, 60), Math.round(ratio * 100) / 100, colour + " on " + ground.map(Math.round)]] : [];
  };

  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || element.closest("script, style, title, template, noscript") || !shown(element)) continue;
    const style = getComputedStyle(element);
    const drawn = element instanceof SVGElement;
    found.push(...judged(node.data, drawn ? style.fill : style.color, drawn ? behind(element) : paper(element), opacity(element)));
  }
  for (const field of document.querySelectorAll("input[placeholder]")) {
    if (shown(field)) found.push(...judged(field.placeholder, getComputedStyle(field, "::placeholder").color, paper(field), opacity(field)));
  }
  return found;
}
