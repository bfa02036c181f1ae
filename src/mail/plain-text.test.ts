import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainText } from './plain-text.ts';

for (const [what, html, text] of [
  [
    'Hebrew, entities and inline elements',
    '<p>שלום <b>דנה</b>, 1 &lt; 2 &amp; 3&nbsp;&#x5d0;&eacute;</p>',
    'שלום דנה, 1 < 2 & 3\u00a0אé',
  ],
  ['paragraphs, rows and lines', '<h1>A</h1><p>b<br>c</p><div>d</div><div>e</div>', 'A\n\nb\nc\n\nd\ne'],
  ['lists and tables', '<ul><li>1<li>2</ul><table><tr><td>a<td>b<tr><td>c</table>', '- 1\n- 2\n\na b\nc'],
  ['white space', '\n <p> a\n\t b </p>\n\n<p>c</p> ', 'a b\n\nc'],
  ['links', '<a href="https://x.example/?a=1&amp;b=2">here</a>', 'here (https://x.example/?a=1&b=2)'],
  ['links that are their own text', '<a href="https://x.example">https://x.example</a>', 'https://x.example'],
  [
    'links whose text is in pieces',
    '<p>see <a href="https://x.example/a">https://<b>x.example</b>/<i>a</i></a> <a href="tel:12">1<b>2</b></a>',
    'see https://x.example/a 12',
  ],
  [
    'links whose text ends otherwise',
    '<a href="https://x.example/a">x.example/<b>a</b></a>',
    'x.example/a (https://x.example/a)',
  ],
  ['addresses', '<a href="mailto:a@x.example">a@x.example</a>', 'a@x.example'],
  ['links of other kinds', '<a href="javascript:alert(1)">x</a><a name="y">y</a></a>', 'xy'],
  ['pictures', '<img src="https://x.example/a.png" alt="A &quot;picture&quot;"><img src="b.png">', 'A "picture"'],
  ['what nobody sees', '<html><head><title>t</title><style>p{}</style><body>a<!-- b --><script>"</p>"</script>c', 'ac'],
  ['a > in an attribute', '<p title="a > b">c</p>', 'c'],
  ['what is no element', 'a < b > c <d', 'a < b > c'],
  ['nothing', '', ''],
] as const)
  test(what, async () => assert.equal(await plainText(html), `${text}\n`));

test('takes time by its length, however deep and broken', async () => {
  const hostile = [
    '<div>',
    '<a href=x>',
    '<table><tr><td>',
    '<',
    '&',
    '</p>',
    '<!--',
    '<b title="',
    ' ',
    '<ul><li>x',
    '<p\n',
    '&#x5d0;',
  ];
  const start = performance.now();
  for (const piece of hostile) await plainText(piece.repeat(1_000_000 / piece.length));
  assert.ok(performance.now() - start < 5_000);
});
