/** What the bytes of a file look like: an extension, as `signature.ts` returns it, or `text`. */
export type Finding = string;

/** A required form of text (`text.ts`). */
export type Shape = 'json' | 'markup' | 'svg';

/** A type of file that the service accepts. */
export interface FileType {
  /** The type that it is served as. */
  readonly contentType: string;
  /** Its extensions in lower case. */
  readonly extensions: readonly string[];
  /** Possible findings for its bytes. Files without a known extension get the first type that lists their finding first. */
  readonly findings: readonly Finding[];
  readonly shape: Shape | undefined;
}

const isoMedia = 'mp4 m4v mov 3gp 3g2 m4a m4b m4p f4v f4p f4a f4b';
const ogg = 'ogg oga opus spx ogv ogm ogx';
/** Macro-enabled documents and templates often have ordinary names; of long or encrypted ones only the container is recognized. */
const word = 'docx docm dotx dotm zip cfb';
const excel = 'xlsx xlsm xltx xltm zip cfb';
const powerpoint = 'pptx pptm potx potm ppsx ppsm zip cfb';
const officeXml = 'application/vnd.openxmlformats-officedocument';
const openDocument = 'application/vnd.oasis.opendocument';

/** Content type, extensions, findings, shape. */
type Line = readonly [contentType: string, extensions: string, findings: string, shape?: Shape];

const lines: readonly Line[] = [
  // Images
  ['image/jpeg', 'jpg jpeg jpe jfif pjpeg', 'jpg'],
  ['image/png', 'png', 'png apng'],
  ['image/apng', 'apng', 'apng png'],
  ['image/gif', 'gif', 'gif'],
  ['image/webp', 'webp', 'webp'],
  ['image/avif', 'avif avifs', 'avif heic'],
  ['image/heic', 'heic heics hif', 'heic avif'],
  ['image/heif', 'heif heifs', 'heic avif'],
  ['image/jxl', 'jxl', 'jxl'],
  ['image/bmp', 'bmp dib', 'bmp'],
  ['image/tiff', 'tif tiff', 'tif'],
  ['image/jp2', 'jp2 j2k j2c jpf', 'jp2 j2c jpx'],
  ['image/jpx', 'jpx', 'jpx'],
  ['image/jxr', 'jxr wdp hdp', 'jxr'],
  ['image/x-icon', 'ico cur', 'ico cur'],
  ['image/icns', 'icns', 'icns'],
  ['image/vnd.adobe.photoshop', 'psd psb', 'psd'],
  ['image/x-xcf', 'xcf', 'xcf'],
  ['image/x-canon-cr2', 'cr2', 'cr2 tif'],
  ['image/x-canon-cr3', 'cr3', 'cr3'],
  ['image/x-nikon-nef', 'nef nrw', 'nef tif'],
  ['image/x-sony-arw', 'arw sr2', 'arw tif'],
  ['image/x-adobe-dng', 'dng', 'dng tif'],
  ['image/x-olympus-orf', 'orf', 'orf'],
  ['image/x-panasonic-rw2', 'rw2', 'rw2'],
  ['image/x-fujifilm-raf', 'raf', 'raf'],
  ['image/vnd.dwg', 'dwg', 'dwg'],
  ['image/svg+xml', 'svg', 'text', 'svg'],
  // Sound
  ['audio/mpeg', 'mp3 mpga mp2 mp1', 'mp3 mp2 mp1'],
  ['audio/aac', 'aac adts', 'aac m4a mp4'],
  ['audio/ogg', 'ogg oga opus spx', `ogg oga opus spx ogx ${ogg}`],
  ['audio/wav', 'wav wave', 'wav'],
  ['audio/flac', 'flac', 'flac'],
  ['audio/amr', 'amr', 'amr 3gp'],
  ['audio/aiff', 'aif aiff aifc', 'aif'],
  ['audio/midi', 'mid midi', 'mid'],
  ['audio/x-caf', 'caf', 'caf'],
  ['audio/vnd.dolby.dd-raw', 'ac3', 'ac3'],
  ['audio/ape', 'ape', 'ape'],
  ['audio/wavpack', 'wv', 'wv'],
  // Pictures that move, and sound in the same containers
  ['video/mp4', 'mp4 m4v mp4v f4v f4p', `mp4 m4v m4p f4v f4p ${isoMedia}`],
  ['video/quicktime', 'mov qt', `mov ${isoMedia}`],
  ['video/3gpp', '3gp 3gpp', `3gp ${isoMedia}`],
  ['video/3gpp2', '3g2', `3g2 ${isoMedia}`],
  ['video/webm', 'webm', 'webm mkv'],
  ['video/matroska', 'mkv mk3d', 'mkv webm'],
  ['video/ogg', 'ogv ogm ogx', `ogv ogm ${ogg}`],
  ['video/vnd.avi', 'avi divx', 'avi'],
  ['video/mpeg', 'mpg mpeg mpe mpv m2v vob', 'mpg mts'],
  ['video/mp2t', 'ts mts m2ts m2t', 'mts'],
  ['video/x-ms-asf', 'asf', 'asf'],
  ['video/x-ms-wmv', 'wmv', 'asf'],
  ['audio/x-ms-wma', 'wma', 'asf'],
  ['audio/webm', 'weba', 'webm mkv'],
  ['audio/matroska', 'mka', 'mkv webm'],
  ['audio/mp4', 'm4a m4b m4p f4a f4b', `m4a m4b f4a f4b ${isoMedia}`],
  ['video/x-flv', 'flv', 'flv'],
  ['application/mxf', 'mxf', 'mxf'],
  // Documents
  ['application/x-cfb', '', 'cfb'],
  ['application/pdf', 'pdf', 'pdf'],
  ['application/postscript', 'ps eps epsf ai', 'ps eps pdf'],
  ['application/rtf', 'rtf', 'rtf'],
  ['application/msword', 'doc dot', 'cfb rtf'],
  ['application/vnd.ms-excel', 'xls xlt xla xlm', 'cfb'],
  ['application/vnd.ms-powerpoint', 'ppt pps pot', 'cfb'],
  ['application/vnd.visio', 'vsd vss vst vsdx', 'cfb vsdx zip'],
  ['application/vnd.ms-project', 'mpp mpt', 'cfb'],
  ['application/vnd.ms-publisher', 'pub', 'cfb'],
  [`${officeXml}.wordprocessingml.document`, 'docx', word],
  [`${officeXml}.wordprocessingml.template`, 'dotx', `dotx ${word}`],
  ['application/vnd.ms-word.document.macroenabled.12', 'docm', `docm ${word}`],
  ['application/vnd.ms-word.template.macroenabled.12', 'dotm', `dotm ${word}`],
  [`${officeXml}.spreadsheetml.sheet`, 'xlsx', excel],
  [`${officeXml}.spreadsheetml.template`, 'xltx', `xltx ${excel}`],
  ['application/vnd.ms-excel.sheet.macroenabled.12', 'xlsm', `xlsm ${excel}`],
  ['application/vnd.ms-excel.template.macroenabled.12', 'xltm', `xltm ${excel}`],
  ['application/vnd.ms-excel.sheet.binary.macroenabled.12', 'xlsb', excel],
  [`${officeXml}.presentationml.presentation`, 'pptx', powerpoint],
  [`${officeXml}.presentationml.template`, 'potx', `potx ${powerpoint}`],
  [`${officeXml}.presentationml.slideshow`, 'ppsx', `ppsx ${powerpoint}`],
  ['application/vnd.ms-powerpoint.presentation.macroenabled.12', 'pptm', `pptm ${powerpoint}`],
  ['application/vnd.ms-powerpoint.template.macroenabled.12', 'potm', `potm ${powerpoint}`],
  ['application/vnd.ms-powerpoint.slideshow.macroenabled.12', 'ppsm', `ppsm ${powerpoint}`],
  [`${openDocument}.text`, 'odt', 'odt zip'],
  [`${openDocument}.text-template`, 'ott', 'ott zip'],
  [`${openDocument}.spreadsheet`, 'ods', 'ods zip'],
  [`${openDocument}.spreadsheet-template`, 'ots', 'ots zip'],
  [`${openDocument}.presentation`, 'odp', 'odp zip'],
  [`${openDocument}.presentation-template`, 'otp', 'otp zip'],
  [`${openDocument}.graphics`, 'odg', 'odg zip'],
  [`${openDocument}.graphics-template`, 'otg', 'otg zip'],
  ['application/vnd.apple.pages', 'pages', 'pages zip'],
  ['application/vnd.apple.numbers', 'numbers', 'numbers pages zip'],
  ['application/vnd.apple.keynote', 'key', 'key pages zip'],
  ['application/epub+zip', 'epub', 'epub zip'],
  ['application/x-mobipocket-ebook', 'mobi azw prc', 'mobi'],
  ['application/x-indesign', 'indd', 'indd'],
  ['application/dicom', 'dcm', 'dcm'],
  // Mail
  ['application/vnd.ms-outlook', 'msg oft', 'cfb'],
  ['application/vnd.ms-outlook', 'pst ost', 'pst'],
  ['application/ms-tnef', 'tnef', 'tnef'],
  ['message/rfc822', 'eml mht mhtml', 'text'],
  ['application/mbox', 'mbox', 'text'],
  // Archives
  ['application/zip', 'zip', 'zip docx docm xlsx xlsm pptx pptm odt ods odp odg epub pages numbers key 3mf vsdx'],
  ['application/oxps', 'xps oxps', 'zip'],
  ['application/vnd.google-earth.kmz', 'kmz', 'zip'],
  ['application/vnd.rar', 'rar', 'rar'],
  ['application/x-7z-compressed', '7z', '7z'],
  ['application/x-tar', 'tar', 'tar'],
  ['application/gzip', 'gz tgz', 'gz tar.gz'],
  ['application/x-bzip2', 'bz2 tbz tbz2', 'bz2'],
  ['application/x-xz', 'xz txz', 'xz'],
  ['application/zstd', 'zst', 'zst'],
  ['application/x-lz4', 'lz4', 'lz4'],
  ['application/x-lzh-compressed', 'lzh lha', 'lzh'],
  // Fonts
  ['font/ttf', 'ttf', 'ttf otf'],
  ['font/otf', 'otf', 'otf ttf'],
  ['font/collection', 'ttc', 'ttc'],
  ['font/woff', 'woff', 'woff'],
  ['font/woff2', 'woff2', 'woff2'],
  ['application/vnd.ms-fontobject', 'eot', 'eot'],
  // Text
  ['text/plain', 'txt text log ini conf cfg properties env sql srt yaml yml toml dxf asc diff patch', 'text'],
  ['text/csv', 'csv', 'text'],
  ['text/tab-separated-values', 'tsv tab', 'text'],
  ['text/markdown', 'md markdown', 'text'],
  ['text/html', 'html htm', 'text'],
  // Browsers execute scripts and apply stylesheets only with their own types, so no file is served as one.
  ['text/plain', 'js mjs cjs jsx ts tsx mts cts css', 'text'],
  ['text/plain', 'xsl xslt', 'text', 'markup'],
  // Keys and certificates. Two of the extensions are shared with other types.
  ['text/plain', 'key pub pem crt', 'text'],
  ['text/calendar', 'ics ical ifb ifs', 'text'],
  ['text/vcard', 'vcf vcard', 'text'],
  ['text/vtt', 'vtt', 'text'],
  ['application/json', 'json geojson webmanifest', 'text', 'json'],
  ['application/x-ndjson', 'ndjson jsonl', 'text', 'json'],
  ['application/xml', 'xml xsd wsdl', 'text', 'markup'],
  ['application/xhtml+xml', 'xhtml xht', 'text', 'markup'],
  ['application/rss+xml', 'rss', 'text', 'markup'],
  ['application/atom+xml', 'atom', 'text', 'markup'],
  ['application/gpx+xml', 'gpx', 'text', 'markup'],
  ['application/vnd.google-earth.kml+xml', 'kml', 'text', 'markup'],
];

const types = lines.map(
  ([contentType, extensions, findings, shape]): FileType => ({
    contentType,
    extensions: extensions === '' ? [] : extensions.split(' '),
    findings: findings.split(' '),
    shape,
  }),
);

/** The types for an extension, most likely first. */
export const typesOfExtension: ReadonlyMap<string, readonly FileType[]> = Map.groupBy(
  types.flatMap((type) => type.extensions.map((extension) => ({ extension, type }))),
  ({ extension }) => extension,
)
  .entries()
  .reduce(
    (map, [extension, pairs]) =>
      map.set(
        extension,
        pairs.map(({ type }) => type),
      ),
    new Map<string, FileType[]>(),
  );

/** The types of files without a known extension, by finding. Text is identified by its content instead. */
export const typeOfFinding: ReadonlyMap<Finding, FileType> = new Map([
  ...types.toReversed().flatMap((type) => type.findings.map((finding) => [finding, type] as const)),
  ...types.flatMap((type) => type.findings.slice(0, 1).map((finding) => [finding, type] as const)).toReversed(),
]);

/**
 * Extensions of programs, installers and system scripts, refused regardless of the bytes. Extensions that occur in other names (`example.com`,
 * `first.run`) are not included.
 */
export const refusedExtensions: ReadonlySet<string> = new Set(
  (
    'exe scr pif cpl dll sys drv ocx msi msp mst msix msixbundle appx appxbundle xll gadget lnk scf reg chm hta ' +
    'bat cmd ps1 psm1 psd1 vb vbe vbs jse ws wsf wsh wsc sct msc ' +
    'jar jnlp class apk aab dex ipa dmg pkg deb rpm appimage snap elf so dylib ko wasm swf xpi crx ' +
    'sh bash zsh csh tcsh ksh fish'
  ).split(' '),
);

/** Findings of programs, installers and system scripts. */
export const refusedFindings: ReadonlySet<Finding> = new Set(
  'exe elf macho class wasm dex deb rpm crx xpi apk jar lnk alias chm swf reg msi'.split(' '),
);
