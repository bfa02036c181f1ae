const piece = /\\(?:[pPu]\{[^}]*\}|.)|\[\^?(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[{}\]]/gsu;
const escaped = /\\./gsu;

/**
 * A pattern of JavaScript in the strict spelling that the flag `u` asks for, which counts characters by code point: escapes that are not
 * needed are taken off, brackets that stand for themselves are escaped.
 */
export function unicodeSource(source: string): string {
  return source.replace(piece, (text) => {
    if (text.startsWith('\\')) return withoutNeedless(text);
    if (text.startsWith('[')) return text.replace(escaped, (each) => (each === '\\-' ? each : withoutNeedless(each)));
    return text.length > 1 ? text : `\\${text}`;
  });
}

function withoutNeedless(text: string): string {
  return /[A-Za-z0-9^$\\.*+?()[\]{}|/]/.test(text[1] ?? '') ? text : text.slice(1);
}
