"""How the page looks, on a screen of any width and on paper."""

from crowdblend.figures.drawing import FONT

CSS = f"""
:root {{ --ink: #1f2328; --quiet: #57606a; --line: #d9dde2; --ground: #f6f8fa; --accent: #0062a0; --warn: #8a3b00; }}
* {{ box-sizing: border-box; }}
html {{ background: #fff; color: var(--ink); font: 16px/1.6 {FONT}; }}
body {{ max-width: 54rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }}
h1 {{ font-size: 2rem; line-height: 1.2; margin: .25rem 0 .75rem; letter-spacing: -.01em; overflow-wrap: anywhere; }}
h2 {{ font-size: 1.35rem; line-height: 1.3; margin: 3rem 0 .75rem; padding-top: 1.25rem;
  border-top: 1px solid var(--line); }}
h3 {{ font-size: 1.05rem; margin: 2rem 0 .5rem; overflow-wrap: anywhere; }}
p, ul, ol {{ margin: .6rem 0; max-width: 44rem; }}
li {{ margin: .3rem 0; }}
a {{ color: var(--accent); }}
code {{ font: .88em/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }}
pre {{ background: var(--ground); border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem;
  white-space: pre-wrap; overflow-wrap: anywhere; margin: .75rem 0; }}
.over {{ color: var(--quiet); font-size: .85rem; letter-spacing: .06em; text-transform: uppercase; margin: 0; }}
.lead {{ font-size: 1.1rem; }}
.quiet {{ color: var(--quiet); font-size: .92rem; }}
.checked {{ color: #116329; font-weight: 600; }}
nav ul {{ list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0;
  max-width: none; }}
nav li {{ margin: 0; }}
.keys {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .75rem; margin: 1.5rem 0; }}
.keys div {{ border: 1px solid var(--line); border-radius: 8px; padding: .6rem .75rem; }}
.keys dt {{ color: var(--quiet); font-size: .82rem; line-height: 1.35; }}
.keys dd {{ margin: 0; font-size: 1.2rem; line-height: 1.3; font-weight: 600; font-variant-numeric: tabular-nums; }}
.box {{ border-left: 4px solid var(--accent); background: var(--ground); border-radius: 0 8px 8px 0;
  padding: .6rem 1.1rem; margin: 1rem 0; }}
.warn {{ border-left-color: #d55e00; background: #fff6ef; }}
.warn b:first-child {{ color: var(--warn); }}
.scroll {{ overflow-x: auto; margin: .75rem 0; }}
table {{ border-collapse: collapse; min-width: 60%; font-size: .93rem; }}
caption {{ text-align: left; color: var(--quiet); font-size: .9rem; padding-bottom: .4rem; }}
th, td {{ text-align: left; vertical-align: top; padding: .35rem 1.25rem .35rem 0; border-bottom: 1px solid var(--line);
  overflow-wrap: break-word; max-width: 24rem; min-width: 4.5rem; }}
thead th {{ border-bottom: 2px solid var(--ink); font-weight: 600; }}
th.number, td.number {{ text-align: right; font-variant-numeric: tabular-nums; }}
td.number {{ white-space: nowrap; }}
figure {{ margin: .5rem 0 1rem; }}
figure svg {{ display: block; max-width: 100%; height: auto; margin-left: -10px; }}
figcaption {{ color: var(--quiet); font-size: .9rem; max-width: 44rem; }}
details {{ margin: .4rem 0; }}
summary {{ cursor: pointer; }}
.step {{ border-left: 2px solid var(--line); padding-left: .9rem; margin: .5rem 0; }}
.step > summary code {{ color: var(--accent); font-weight: 600; }}
.step p {{ margin: .35rem 0; font-size: .93rem; }}
:focus-visible {{ outline: 2px solid var(--accent); outline-offset: 2px; }}
.narrow {{ display: none; margin: .75rem 0; }}
@media screen and (max-width: 34rem) {{ body {{ padding-top: 1.25rem; }} h1 {{ font-size: 1.6rem; }}
  .wide {{ display: none; }} .narrow {{ display: block; }} .scroll svg {{ max-width: none; }}
  th, td {{ padding-right: .7rem; min-width: 3.2rem; }} .step {{ padding-left: .5rem; }} }}
@media print {{
  @page {{ margin: 1.2cm; }}
  html {{ font-size: 8.5pt; line-height: 1.35; }} body {{ max-width: none; padding: 0; }}
  nav, .step, .sizes, #derivation, #verify pre, .numbers:not([open]) {{ display: none; }}
  h1 {{ font-size: 1.6rem; }} h2 {{ break-after: avoid; margin: .9rem 0 .3rem; padding-top: .4rem; font-size: 1.2rem; }}
  h3 {{ break-after: avoid; margin: .5rem 0 .2rem; }} p, ul, ol, li {{ margin: .15rem 0; max-width: none; }}
  figure, tr, .box, .keys div {{ break-inside: avoid; }} figure {{ margin: .2rem 0; }} .scroll {{ overflow: visible; }}
  figure svg {{ max-height: 4.2cm; max-width: 75%; }} figcaption, caption {{ font-size: .85rem; }}
  .keys {{ gap: .3rem; margin: .4rem 0; }} .keys div {{ padding: .2rem .4rem; }} .keys dd {{ font-size: 1rem; }}
  td, th {{ padding: .08rem .8rem .08rem 0; min-width: 0; }} .box {{ padding: .2rem .8rem; margin: .3rem 0; }}
}}
@media screen and (prefers-color-scheme: dark) {{
  :root {{ --ink: #e6e9ed; --quiet: #a8b1bb; --line: #3a424b; --ground: #1f262d; --accent: #6cb6ff; --warn: #ffb077; }}
  html {{ background: #14191e; }} .checked {{ color: #6fd08c; }} .warn {{ background: #33251a; }}
  figure svg {{ background: #fff; border-radius: 8px; margin-left: 0; }}
}}
""".strip()
