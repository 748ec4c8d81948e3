<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>sweep · tilewright</title>
<style>
${style | n}
</style>
</head>
<body>
<header>
<h1>Sweep</h1>
<p class="quiet">${'{:,}'.format(points)} points, ${'{:,}'.format(fit)} fit; cycles are estimates; tilewright ${version}</p>
</header>
<main>
<form id="filters">
<label>across <select id="across"></select></label>
<label>up <select id="up"></select></label>
</form>
<div class="wide"><canvas id="plot" width="960" height="480" role="img" aria-label="points of the sweep"></canvas></div>
<p id="point" class="quiet" aria-live="polite">Filled points are those that nothing beats. Click one to see what to type.</p>
<p id="count" class="quiet"></p>
<div class="wide"><table id="rows"><thead></thead><tbody></tbody></table></div>
</main>
<script type="application/json" id="data">${data | n}</script>
<script>
${script | n}
</script>
</body>
</html>
