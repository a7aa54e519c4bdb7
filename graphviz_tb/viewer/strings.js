// Every text of the page, in each language.

/** @type {Record<string, Record<string, string>>} */
export const STRINGS = {
  en: {
    language: "Language", languageName: "English", find: "Find", findHint: "Name, op:Conv2D, params>1M, /regex/", fields: "In one field: name: op: device: attr: shape: dtype: · params>1M time>1ms · and or not", theme: "Theme", colourBy: "Colour by",
    system: "System", light: "Light", dark: "Dark", settings: "Settings", outline: "Outline", "outline.close": "Hide this panel", "outline.filter": "Filter the outline", "outline.more": "{n} more: filter further", details: "Details", legend: "Legend",
    minimap: "Minimap", help: "Keyboard shortcuts", share: "Share", copyLink: "Copy link", saveSvg: "Save SVG",
    saveHtml: "Save this view as HTML", saveView: "Save view as tbgraph.toml", "share.picture": "Picture of", "share.whole": "the whole graph", "share.screen": "what is on the screen", "share.chosen": "the selected box alone", "share.title": "Title", "share.marks": "+ and − marks", "share.print": "Print or save as PDF", "share.fileLink": "The link works only where this file lies: to send the view, save it as HTML.",
    savePng: "Save PNG", copied: "Link copied", zoomIn: "Zoom in", zoomOut: "Zoom out", fit: "Fit", close: "Close", closeDetails: "Close details",
    attributes: "Attributes", inputs: "Inputs", outputs: "Outputs", controlInputs: "Control inputs",
    configuration: "Configuration", program: "Program", content: "Value", "content.type": "Type and shape", "content.least": "Least", "content.most": "Largest", "content.mean": "Mean", "content.zeros": "Zeros", "content.odd": "Not finite", "content.first": "First values", "content.histogram": "How the values are spread from {least} to {most}",
    saveBox: "Save this box as SVG", copyName: "Copy the name", nameCopied: "Name copied", fitNode: "Show large", unfold: "Its tensors", compare: "Side by side", "beside.same": "{n} the same", "beside.oneSame": "1 the same", "beside.alike": "No difference is known.", "beside.none": "none",
    statistics: "Statistics", opTypes: "Op types", twins: "Twins", atLeast: "at least {n}", atMost: "at most {n}", about: "about {n}", unknown: "unknown",
    "lacks.uncounted": "{n} ops not counted", "lacks.uncounted1": "1 op not counted", "lacks.guessed": "unknown sizes count as {batch}", "lacks.partial": "{n} ops counted in part", "lacks.partial1": "1 op counted in part", "lacks.unshaped": "{n} ops have no known shape", "lacks.unshaped1": "1 op has no known shape",
    "lacks.guessed1": "unknown sizes count as {batch}", "lacks.unsized": "{n} weights of unknown size", "lacks.unsized1": "1 weight of unknown size", "lacks.doubtful": "{n} places may hold weights", "lacks.doubtful1": "1 place may hold weights", "lacks.repeated": "{n} numbers may be stored twice", "lacks.repeated1": "1 number may be stored twice", "lacks.branched": "{n} places count more than the branch that runs", "lacks.branched1": "1 place counts more than the branch that runs", kind: "Kind", op: "Op", device: "Device",
    open: "Open", traceInputs: "Trace inputs", traceOutputs: "Trace outputs", traceOff: "End trace",
    openAll: "Open all inside", closeAll: "Close all", memberOf: "{at} of {n}", lastMember: "The member before", nextMember: "The next member", allMembers: "All members", toAux: "To the auxiliary area", toMain: "To the main graph",
    group: "Group", ungroup: "Ungroup", graph: "Graph", run: "Run", tag: "Tag", against: "Compare with", alone: "Compare with …", wholeRun: "(this folder)", wholeGraph: "graph", layers: "layers",
    reading: "Reading {name}", cancel: "Cancel", cancelled: "Reading {name} was cancelled.", again: "Read it", unread: "{name} cannot be shown: {error}", lost: "The server does not answer.", newGraph: "The log has another graph now.",
    "stage.wait": "waiting for its turn", "stage.read": "reading the file", "stage.flatten": "nodes and edges", "stage.interpret": "what nodes are", "stage.group": "groups", "stage.annotate": "shapes and costs", "stage.expand": "levels", "stage.arrange": "order of drawing", "stage.compare": "comparing", step: "Step", allSteps: "All steps",
    ops: "{n} ops", oneOp: "1 op", shown: "{n} shown", hits: "{n} found", oneHit: "1 found", noHits: "Nothing found",
    moreHits: "The first {n} are listed", moreLike: "{n} more like this", and: "and {n} more", fewer: "Fewer", longer: "… {n} characters in all",
    damaged: "Part of this file is damaged: {names}. The rest is shown.", missing: "This link names what is not in this file: {names}. The rest is shown.",
    unreadable: "This file is damaged and cannot be shown.", failed: "This picture could not be drawn: {error}", notHeld: "What is in {name} is not in this file. Write it with a larger --page-max, or with --open {name}.",
    notAll: "This is too much to open at once: what lies deeper is still closed.", left: "{n} groups left out",
    carries: "{n} tensors", undo: "Back", redo: "Forward", picture: "Graph of {name}", loading: "Loading…",
    "kind.scope": "Scope", "kind.op": "Operation", "kind.series": "Repeated", "kind.fold": "Many in one box", "kind.function": "Function",
    "kind.call": "Function call", "mark.1": "Constant", "mark.2": "Summary", "mark.3": "Weight",
    "scheme.structure": "Structure", "scheme.device": "Device", "scheme.xla-cluster": "XLA cluster", "scheme.op-type": "Op type",
    "scheme.compute-time": "Compute time", "scheme.memory": "Memory", "scheme.none": "None", "scheme.flops": "FLOPs",
    "scheme.parameters": "Parameters", "scheme.activations": "Activations", "scheme.logged": "Logged", "scheme.patterns": "Patterns", "scheme.facts": "Facts", "scheme.diff": "Changes",
    stated: "Value", from: "From", to: "To", tensor: "Tensor", name: "Name", count: "Count", time: "Compute time", memory: "Memory",
    expanded: "open", collapsed: "closed", reference: "reference", control: "control",
    inputsOf: "Inputs of {name}", outputsOf: "Outputs of {name}", reach: "How far", oneHop: "1 hop", hops: "{n} hops", allTheWay: "all the way",
    "help.find": "Find; in one field: name: op: device: attr:", "help.enter": "Open or close", "help.arrows": "Along the lines, and between siblings", "help.parent": "To the group around", "help.inside": "Into the open group",
    "help.zoom": "Zoom, fit everything", "help.fit": "Fit the selection", "help.compare": "Compare the selection with another box", "help.trace": "Trace inputs, outputs; again: a hop further (Shift: all the way)",
    "help.move": "To the auxiliary area and back", "help.fold": "Take repeated boxes apart, or together again", "help.colour": "Next colouring",
    "help.theme": "Theme", "help.views": "Back and forward through views", "help.escape": "Undo one thing", "help.help": "This list", "help.changes": "Next, previous change",
    changes: "Changes", next: "Next change", previous: "Previous change", consequences: "Consequences", reconnected: "Inputs that come from elsewhere now", same: "The two graphs are the same.", before: "Before", after: "After",
    "query.long": "More than {n} words", "query.closes": "A ) closes nothing: put text with parentheses in quotes", "query.open": "A ( is not closed: put text with parentheses in quotes",
    "query.missing": "A word is missing: look for the words and, or, not in quotes", "query.quantity": "Nothing to compare is called {name}: params, flops, activations, time, memory", "query.unit": "{unit} is no unit here", "query.number": "{word} is followed by no number",
    "query.field": "No field is called {name}: there are name, op, device, attr, shape, dtype; put a text with a colon in quotes", "query.empty": "{name}: is followed by nothing to look for",
    "query.unknown": "Not known in this graph: {quantity}", hitOf: "{at} of {n}", hitBefore: "Previous result", hitNext: "Next result",
    regexError: "Not a valid regular expression", skip: "Skip to the graph", crossing: "{n} tensors", values: "Constants and weights",
    backToGraph: "Back to the graph", table: "Table", "table.by": "Rows", "table.ops": "Ops", "table.layers": "Layers", "table.groups": "Groups", "table.filter": "Filter the rows", "table.csv": "Save CSV", "table.close": "Close the table", "table.self": "Self time",
    "table.time": "Time", "table.share": "Share", "table.shape": "Output shape", "table.rows": "{n} rows", "table.oneRow": "1 row", "table.of": " of {all}{share}", "help.table": "Table of ops, layers or groups",
  },
  ko: {
    language: "언어", languageName: "한국어", find: "찾기", findHint: "이름, op:Conv2D, params>1M, /정규식/", fields: "한 항목에서만: name: op: device: attr: shape: dtype: · params>1M time>1ms · and or not", theme: "테마", colourBy: "색 기준",
    system: "시스템", light: "밝게", dark: "어둡게", settings: "설정", outline: "개요", "outline.close": "패널 숨기기", "outline.filter": "개요 거르기", "outline.more": "외 {n}개: 더 좁혀 보세요", details: "상세 정보", legend: "범례",
    minimap: "축소 지도", help: "단축키", share: "공유", copyLink: "링크 복사", saveSvg: "SVG 저장",
    saveHtml: "이 화면을 HTML로 저장", saveView: "보기를 tbgraph.toml로 저장", "share.picture": "그림 범위", "share.whole": "전체 그래프", "share.screen": "화면에 보이는 부분", "share.chosen": "선택한 상자만", "share.title": "제목", "share.marks": "+·− 표시", "share.print": "인쇄 또는 PDF로 저장", "share.fileLink": "이 링크는 파일이 있는 곳에서만 열립니다. 보내려면 HTML로 저장하십시오.",
    savePng: "PNG 저장", copied: "링크를 복사했습니다", zoomIn: "확대", zoomOut: "축소", fit: "화면에 맞춤", close: "닫기", closeDetails: "상세 정보 닫기",
    attributes: "속성", inputs: "입력", outputs: "출력", controlInputs: "제어 입력",
    configuration: "설정값", program: "프로그램", content: "값", "content.type": "형식과 모양", "content.least": "최솟값", "content.most": "최댓값", "content.mean": "평균", "content.zeros": "0인 원소", "content.odd": "유한하지 않음", "content.first": "처음 값", "content.histogram": "{least}부터 {most}까지 값의 분포",
    saveBox: "이 상자를 SVG로 저장", copyName: "이름 복사", nameCopied: "이름을 복사했습니다", fitNode: "크게 보기", unfold: "텐서 보기", compare: "나란히 비교", "beside.same": "같은 것 {n}개", "beside.oneSame": "같은 것 1개", "beside.alike": "알려진 차이가 없습니다.", "beside.none": "없음",
    statistics: "통계", opTypes: "연산 종류", twins: "같은 구조", atLeast: "{n} 이상", atMost: "{n} 이하", about: "약 {n}", unknown: "알 수 없음",
    "lacks.uncounted": "연산 {n}개는 세지 않음", "lacks.uncounted1": "연산 1개는 세지 않음", "lacks.guessed": "모르는 크기는 {batch}(으)로 셈", "lacks.partial": "연산 {n}개는 일부만 셈", "lacks.partial1": "연산 1개는 일부만 셈", "lacks.unshaped": "연산 {n}개는 모양을 모름", "lacks.unshaped1": "연산 1개는 모양을 모름",
    "lacks.guessed1": "모르는 크기는 {batch}(으)로 셈", "lacks.unsized": "크기를 모르는 가중치 {n}개", "lacks.unsized1": "크기를 모르는 가중치 1개", "lacks.doubtful": "가중치가 있을 수 있는 곳 {n}개", "lacks.doubtful1": "가중치가 있을 수 있는 곳 1개", "lacks.repeated": "수 {n}개가 두 번 저장되었을 수 있음", "lacks.repeated1": "수 1개가 두 번 저장되었을 수 있음", "lacks.branched": "{n}곳은 실행되는 분기보다 많이 셈", "lacks.branched1": "1곳은 실행되는 분기보다 많이 셈", kind: "종류", op: "연산", device: "장치",
    open: "열기", traceInputs: "입력 추적", traceOutputs: "출력 추적", traceOff: "추적 끝내기",
    openAll: "안쪽 모두 열기", closeAll: "모두 닫기", memberOf: "{n}개 중 {at}번째", lastMember: "이전 구성원", nextMember: "다음 구성원", allMembers: "구성원 모두", toAux: "보조 영역으로", toMain: "본 그래프로",
    group: "묶기", ungroup: "풀기", graph: "그래프", run: "실행", tag: "태그", against: "비교 대상", alone: "비교할 실행 …", wholeRun: "(이 폴더)", wholeGraph: "그래프", layers: "레이어",
    reading: "{name} 읽는 중", cancel: "취소", cancelled: "{name} 읽기를 취소했습니다.", again: "읽기", unread: "{name}을(를) 표시할 수 없습니다: {error}", lost: "서버가 응답하지 않습니다.", newGraph: "로그에 다른 그래프가 기록되었습니다.",
    "stage.wait": "차례를 기다리는 중", "stage.read": "파일 읽기", "stage.flatten": "노드와 간선", "stage.interpret": "노드의 역할", "stage.group": "묶음", "stage.annotate": "형태와 비용", "stage.expand": "단계별 내용", "stage.arrange": "그리는 순서", "stage.compare": "비교", step: "단계", allSteps: "모든 단계",
    ops: "연산 {n}개", oneOp: "연산 1개", shown: "{n}개 표시", hits: "{n}개 찾음", oneHit: "1개 찾음", noHits: "찾지 못했습니다",
    moreHits: "처음 {n}개만 나열합니다", moreLike: "같은 구조 {n}개 더", and: "외 {n}개", fewer: "줄이기", longer: "… 모두 {n}자",
    damaged: "파일 일부가 손상되었습니다: {names}. 나머지는 표시합니다.", missing: "링크에 있지만 이 파일에 없음: {names}. 나머지는 표시합니다.",
    unreadable: "파일이 손상되어 표시할 수 없습니다.", failed: "그림을 그릴 수 없습니다: {error}", notHeld: "{name}의 내용은 이 파일에 없습니다. --page-max를 늘리거나 --open {name}으로 다시 만드십시오.",
    notAll: "한 번에 모두 열기에는 너무 많습니다. 더 깊은 것은 닫혀 있습니다.", left: "묶음 {n}개 생략",
    carries: "텐서 {n}개", undo: "뒤로", redo: "앞으로", picture: "{name} 그래프", loading: "불러오는 중…",
    "kind.scope": "스코프", "kind.op": "연산", "kind.series": "반복", "kind.fold": "여럿을 한 상자로", "kind.function": "함수",
    "kind.call": "함수 호출", "mark.1": "상수", "mark.2": "요약", "mark.3": "가중치",
    "scheme.structure": "구조", "scheme.device": "장치", "scheme.xla-cluster": "XLA 클러스터", "scheme.op-type": "연산 종류",
    "scheme.compute-time": "계산 시간", "scheme.memory": "메모리", "scheme.none": "없음", "scheme.flops": "FLOPs",
    "scheme.parameters": "매개변수", "scheme.activations": "활성값", "scheme.logged": "기록", "scheme.patterns": "패턴", "scheme.facts": "사실", "scheme.diff": "변경",
    stated: "값", from: "출처", to: "대상", tensor: "텐서", name: "이름", count: "개수", time: "계산 시간", memory: "메모리",
    expanded: "열림", collapsed: "닫힘", reference: "참조", control: "제어",
    inputsOf: "{name}의 입력", outputsOf: "{name}의 출력", reach: "추적 범위", oneHop: "1단계", hops: "{n}단계", allTheWay: "끝까지",
    "help.find": "찾기, 한 항목에서만: name: op: device: attr:", "help.enter": "열기 또는 닫기", "help.arrows": "선을 따라, 형제 사이로", "help.parent": "바깥 묶음으로", "help.inside": "열린 묶음 안으로",
    "help.zoom": "확대·축소, 전체 보기", "help.fit": "선택에 맞춤", "help.compare": "선택한 상자를 다른 상자와 비교", "help.trace": "입력·출력 추적, 다시 누르면 한 단계 더 (Shift: 끝까지)",
    "help.move": "보조 영역으로 옮기거나 되돌리기", "help.fold": "연속 묶음 풀기·묶기", "help.colour": "다음 색 기준",
    "help.theme": "테마", "help.views": "이전·다음 보기", "help.escape": "하나씩 되돌리기", "help.help": "이 목록", "help.changes": "다음·이전 변경",
    changes: "변경 사항", next: "다음 변경", previous: "이전 변경", consequences: "결과로 따라온 변경", reconnected: "다른 곳에서 오게 된 입력", same: "두 그래프는 같습니다.", before: "이전", after: "이후",
    "legend.Same colour and letter: same structure": "색과 글자가 같으면 같은 구조", "legend.Op type": "연산 종류", "legend.Device": "장치",
    "legend.XLA cluster": "XLA 클러스터", "legend.Compute time": "계산 시간", "legend.Memory": "메모리", "legend.Patterns": "패턴", "legend.Parameters": "매개변수",
    "legend.Activations": "활성값", "legend.What changed": "변경 내용", "legend.Signs": "기호", "legend.opens, is open": "열림·닫힘",
    "legend.operation": "연산", "legend.function call": "함수 호출", "legend.function": "함수", "legend.repeated, side by side": "나란히 반복",
    "legend.repeated, one after another": "이어서 반복", "legend.repeated; open: one is shown": "반복(열면 하나만 표시)", "legend.only in one of them": "그중 하나에만 있음", "legend.many in one box": "여럿을 한 상자로", "legend.constant": "상수", "legend.weight": "가중치", "legend.sum": "합", "legend.product": "곱",
    "legend.summary": "요약", "legend.leads elsewhere": "다른 곳으로 연결", "legend.data": "데이터", "legend.control": "제어", "legend.writes weights": "가중치 쓰기",
    "legend.against the flow": "흐름을 거스름", "legend.new wire": "새 연결", "legend.removed wire": "없어진 연결",
    "legend.new and removed": "새 연결과 없어진 연결", "legend.partly new": "일부 새 연결", "legend.partly removed": "일부 없어짐",
    "legend.partly new, removed": "일부 새 연결·없어짐", "legend.unchanged": "그대로",
    "query.long": "단어가 {n}개보다 많습니다", "query.closes": "여는 괄호가 없습니다: 괄호가 든 글은 따옴표로 묶으세요", "query.open": "닫는 괄호가 없습니다: 괄호가 든 글은 따옴표로 묶으세요",
    "query.missing": "단어가 빠졌습니다: and, or, not이라는 글을 찾으려면 따옴표로 묶으세요", "query.quantity": "{name}(으)로는 비교할 수 없습니다: params, flops, activations, time, memory", "query.unit": "{unit}은(는) 여기서 쓰는 단위가 아닙니다", "query.number": "{word} 뒤에 수가 없습니다",
    "query.field": "{name}(이)라는 항목은 없습니다: name, op, device, attr, shape, dtype 가운데 고르고, 쌍점이 든 글은 따옴표로 묶으세요", "query.empty": "{name}: 뒤에 찾을 글이 없습니다",
    "query.unknown": "이 그래프에서는 알 수 없습니다: {quantity}", hitOf: "{n}개 중 {at}번째", hitBefore: "이전 결과", hitNext: "다음 결과",
    regexError: "올바른 정규식이 아닙니다", skip: "그래프로 건너뛰기", crossing: "텐서 {n}개", values: "상수와 가중치",
    backToGraph: "그래프로 돌아가기", table: "표", "table.by": "행", "table.ops": "연산", "table.layers": "레이어", "table.groups": "묶음", "table.filter": "행 거르기", "table.csv": "CSV 저장", "table.close": "표 닫기", "table.self": "자체 시간",
    "table.time": "시간", "table.share": "비율", "table.shape": "출력 형태", "table.rows": "{n}행", "table.oneRow": "1행", "table.of": ", 전체 {all}{share}", "help.table": "연산·레이어·묶음 표",
  },
};

export const BROWSER_LANGUAGE = (navigator.language || "en").toLowerCase().startsWith("ko") ? "ko" : "en";
export let language = BROWSER_LANGUAGE;

/** Set the language of the page. @param {string} word */
export function useLanguage(word) {
  language = word;
}

/** Words and signs of bounds, by the index that Python writes (`BOUND_WORDS` of model/costs.py). */
const BOUND_KEYS = ["", "atLeast", "atMost", "about"];
export const BOUND_SIGNS = ["", "≥", "≤", "≈"];

/** A number in words with the word for its bound. @param {number} bound @param {string} told */
export const inBounds = (bound, told) => (bound ? t(BOUND_KEYS[bound], { n: told }) : told);

/** A word in the reader's language. @param {string} key @param {Record<string, string | number>} [values] */
export function t(key, values = {}) {
  let text = STRINGS[language][key] ?? STRINGS.en[key] ?? key;
  for (const [name, value] of Object.entries(values)) text = text.replaceAll(`{${name}}`, () => (typeof value === "number" ? countWord(value) : value));
  return text;
}

/** A count with thin spaces between its thousands. @param {number} number */
export const countWord = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u2009");

/** A number of ops; -1 is infinite. Counting stops at a billion. @param {number} count */
export const opsCount = (count) => (count < 0 ? "∞" : (count >= 1e9 ? "≥ " : "") + countWord(count));

/** @param {number} count */
export const opsWord = (count) => (count === 1 ? t("oneOp") : t("ops", { n: opsCount(count) }));
