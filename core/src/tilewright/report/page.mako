<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>${title} · tilewright</title>
<style>
${style | n}
</style>
</head>
<body>
<header>
<h1>${title}\
% if verdict:
 <span class="verdict ${'good' if verdict == 'fits' else 'bad'}">${verdict}</span>\
% endif
</h1>
<p class="quiet">${subtitle}</p>
</header>
<main>
<section id="pools">
<h2>Memories</h2>
% for panel in panels:
<% of = panel.limit or largest %>
<div class="pool">
<b>${panel.pool}</b>
<span class="bar ${'limited' if panel.limit is not None else ''} ${'over' if panel.limit is not None and panel.used > panel.limit else ''}"><i style="width:${'%.2f' % min(100 * panel.used / of, 100)}%"></i>\
% if not panel.constant:
<u style="left:${'%.2f' % min(100 * panel.bound / of, 100)}%" title="lower bound"></u>\
% endif
</span>
<span class="numbers">${'{:,}'.format(panel.used)} B <span class="quiet">(${'%.1f' % (panel.used / 1024)} KiB) \
% if panel.limit is None:
no limit\
% else:
of ${'{:,}'.format(panel.limit)} B\
% endif
% if not panel.constant:
, lower bound ${'{:,}'.format(panel.bound)} B${', optimal' if panel.optimal else ''}\
% endif
</span></span>
</div>
% endfor
</section>
% if tensors:
<section id="border">
<h2>Inputs and outputs</h2>
<div class="wide"><table>
<tbody>
% for word, name, kind, meaning in tensors:
<tr><td class="quiet">${word}</td><td class="nodes" title="${name}">${name}</td><td>${kind}</td><td>${meaning}</td></tr>
% endfor
</tbody>
</table></div>
</section>
% endif
% if front_command:
<section id="front">
<h2>Memory against cycles</h2>
<p><code>${front_command}</code>, with the flags of this plan, shows what less memory costs.</p>
</section>
% endif
% if front:
<section id="front">
<h2>Memory against cycles</h2>
<div class="wide"><table>
<thead><tr><th class="number">RAM</th><th class="number">cycles over layer by layer (estimate)</th><th>with</th></tr></thead>
<tbody>
% for ram, cycles, flags, chosen in front:
<tr><td class="number">${ram}</td><td class="number">${cycles}</td>\
% if chosen:
<td><b>${flags}</b></td></tr>
% else:
<td><code>${flags}</code></td></tr>
% endif
% endfor
</tbody>
</table></div>
</section>
% endif
<section id="plan">
<h2>Memory over time</h2>
<p class="legend">
% for kind, colour in kinds:
<span><i style="background:${colour}"></i>${kind}</span>
% endfor
<span><i class="line"></i>bytes alive</span><span><i class="dashes"></i>lower bound</span><span><i class="red"></i>limit</span>
<span class="quiet">outputs may lie over what their steps have read</span>
<input id="find" type="search" placeholder="find a tensor" aria-label="find a tensor">
</p>
% for drawing in drawings:
<figure>${drawing | n}</figure>
% endfor
</section>
% if network:
<section id="network">
<h2>Network</h2>
<p class="legend">
% for place, colour in places:
<span><i style="background:${colour}"></i>${place}</span>
% endfor
% if fused:
<span><i class="frame"></i>run as one, ${fused}</span>
% endif
</p>
<div class="wide drawing">${network | n}</div>
</section>
% endif
% if steps:
<section id="layers">
<h2>Layers <input id="find-layer" type="search" placeholder="find a layer" aria-label="find a layer"></h2>
<div class="wide"><table>
<thead><tr><th class="number">step</th><th>operator</th><th>kernel</th><th class="number">MACs</th><th class="number">live bytes</th><th class="number">cycles (${steps[0]['cycles']['kind']})</th>\
% if steps[0]['time']:
<th class="number">ms (estimate)</th>\
% endif
<th>ONNX nodes</th></tr></thead>
<tbody>
% for step in steps:
<tr data-step="${step['id']}"><td class="number">${step['id']}</td><td>${step['op']}</td><td class="quiet">${step['kernel']}</td>\
<td class="number" data-value="${step['macs']}" ><span class="cell"><i style="width:${'%.1f' % step['work']}%"></i></span><b>${'{:,}'.format(step['macs'])}</b> <b class="quiet">${'%.1f' % step['work']} %</b></td>\
<td class="number" data-value="${step['peak_bytes']}"><span class="cell"><i style="width:${'%.1f' % step['fill']}%"></i></span><b>${'{:,}'.format(step['peak_bytes'])}</b></td>\
% if step['within'] is None:
<td class="number" data-value="${step['cycles']['total']}"><span class="cell"><i style="width:${'%.1f' % step['share']}%"></i></span><b>${'{:,.0f}'.format(step['cycles']['total'])}</b> <b class="quiet">${'%.1f' % step['share']} %</b></td>\
% else:
<td class="number quiet" data-value="0" title="runs as one with step ${step['within']}, which has the cycles of both">in step ${step['within']}</td>\
% endif
% if step['time']:
<td class="number" data-value="${step['time']}">${step['time'] if step['within'] is None else ''}</td>\
% endif
<td class="nodes" title="${step['whole']}">${step['nodes']}</td></tr>
% endfor
</tbody>
</table></div>
</section>
% endif
% if diagnostics:
<section id="diagnostics">
<h2>Diagnostics</h2>
% for item in diagnostics:
<div class="diagnostic ${item['severity']}"><b>${item['severity']} ${item['code']}</b> ${item['message']}\
% if item['where']:
 <span class="quiet">at ${item['where']}</span>\
% endif
% for line in item['details']:
<div class="quiet">${line}</div>\
% endfor
% for line in item['fix']:
<div>try: <code>${line}</code></div>\
% endfor
</div>
% endfor
</section>
% endif
</main>
<footer class="quiet">
% for name, value in facts:
<span>${name} ${value}</span>
% endfor
</footer>
<div id="tip" hidden></div>
<script>
${script | n}
</script>
</body>
</html>
