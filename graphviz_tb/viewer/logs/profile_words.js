// The texts of the page of profiles in each language, and formatted times.

import { STRINGS } from "../strings.js";

Object.assign(STRINGS.en, {
  "log.page.profile": "Profile", "profile.step": "Traced step", "profile.against": "Compare with", "profile.alone": "nothing", "profile.took": "{step} took {time} from its first start to its last end.",
  "profile.compute": "compute", "profile.input": "waits for input", "profile.launch": "launches kernels", "profile.idle": "idle", "profile.compute.about": "an op that is not of the input pipeline runs", "profile.input.about": "only ops of the input pipeline run", "profile.launch.about": "the host only hands kernels to an accelerator", "profile.idle.about": "nothing that the trace records runs",
  "profile.shares": "How the step was spent", "profile.steps": "Step times", "profile.partial": "Partial", "profile.reading": "Reading the trace…", "profile.memory": "Memory over the step", "profile.peak": "{allocator}: at most {bytes} more than at its begin",
  "profile.by": "By", "profile.ops": "op", "profile.types": "op type", "profile.groups": "layer or group", "profile.filter": "Filter the table", "profile.name": "Name", "profile.op": "Op type", "profile.self": "Self", "profile.share": "Share", "profile.total": "Total", "profile.count": "Count", "profile.bytes": "Memory", "profile.other": "Self, other", "profile.difference": "Difference",
  "profile.whole": "(whole graph)", "profile.sum": "Rows: {rows} · {time} of {all} ({share})", "profile.leftRows": "{n} rows of less time are not listed ({time})", "profile.inTimeline": "Show in timeline", "profile.timeline": "Timeline", "profile.slices": "Slices in all: {n}", "profile.search": "Search slices", "profile.marks": "Slices: {n} · {time} together", "profile.noMarks": "no slice", "profile.next": "Next marked slice", "profile.previous": "Previous marked slice", "profile.fit": "Fit", "profile.keys": "Click, then: wheel or W S zoom, A D or drag pan, 0 fits, . , next and previous marked slice",
  "profile.start": "Start", "profile.duration": "Duration", "profile.lane": "Lane", "profile.waited": "Scheduled before", "profile.merged": "Slices close together: {n} · {time} busy", "profile.node": "Node", "profile.noNode": "no op of this graph", "profile.notInGraph": "{name} is not in the graph that is shown", "profile.noGraph": "There is no graph to show it in", "profile.asTable": "Slices in view as a table", "profile.thinned": "This file has {n} of {all} slices merged for a screen: tbgraph serve shows each.", "profile.inView": "{n} rectangles in view", "profile.zoomTo": "Zoom to it", "profile.leftSteps": "{n} traced steps are not in this file: write it with a larger --page-max.", "profile.clear": "Clear marks",
  "help.profile": "Timeline: zoom, pan, fit, next marked slice",
});
Object.assign(STRINGS.ko, {
  "log.page.profile": "프로파일", "profile.step": "추적한 단계", "profile.against": "비교 대상", "profile.alone": "없음", "profile.took": "{step}: 첫 시작부터 마지막 끝까지 {time} 걸렸습니다.",
  "profile.compute": "계산", "profile.input": "입력 대기", "profile.launch": "커널 실행 요청", "profile.idle": "쉼", "profile.compute.about": "입력 파이프라인이 아닌 연산이 실행됨", "profile.input.about": "입력 파이프라인 연산만 실행됨", "profile.launch.about": "호스트가 가속기에 커널을 넘기기만 함", "profile.idle.about": "추적에 기록된 것이 아무것도 실행되지 않음",
  "profile.shares": "단계의 시간 구성", "profile.steps": "단계별 시간", "profile.partial": "불완전", "profile.reading": "추적을 읽는 중…", "profile.memory": "단계 동안의 메모리", "profile.peak": "{allocator}: 시작보다 최대 {bytes} 더",
  "profile.by": "기준", "profile.ops": "연산", "profile.types": "연산 종류", "profile.groups": "층 또는 묶음", "profile.filter": "표 거르기", "profile.name": "이름", "profile.op": "연산 종류", "profile.self": "자체", "profile.share": "비율", "profile.total": "전체", "profile.count": "횟수", "profile.bytes": "메모리", "profile.other": "자체(비교 대상)", "profile.difference": "차이",
  "profile.whole": "(전체 그래프)", "profile.sum": "{rows}행, {all} 중 {time} ({share})", "profile.leftRows": "시간이 적은 {n}행은 목록에 없습니다 ({time})", "profile.inTimeline": "타임라인에서 보기", "profile.timeline": "타임라인", "profile.slices": "구간 {n}개", "profile.search": "구간 찾기", "profile.marks": "구간 {n}개, 합계 {time}", "profile.noMarks": "구간 없음", "profile.next": "다음 표시 구간", "profile.previous": "이전 표시 구간", "profile.fit": "전체 보기", "profile.keys": "클릭한 뒤 휠 또는 W S: 확대·축소, A D 또는 끌기: 이동, 0: 전체, . ,: 다음·이전 표시 구간",
  "profile.start": "시작", "profile.duration": "길이", "profile.lane": "줄", "profile.waited": "예약 후 대기", "profile.merged": "가까운 구간 {n}개, 실행 {time}", "profile.node": "노드", "profile.noNode": "이 그래프의 연산이 아님", "profile.notInGraph": "{name}은(는) 보고 있는 그래프에 없습니다", "profile.noGraph": "보여 줄 그래프가 없습니다", "profile.asTable": "보이는 구간을 표로", "profile.thinned": "이 파일에는 구간 {all}개가 화면에 맞춰 {n}개로 합쳐져 있습니다. tbgraph serve는 모두 보여 줍니다.", "profile.inView": "보이는 사각형 {n}개", "profile.zoomTo": "확대하기", "profile.leftSteps": "추적한 단계 {n}개는 이 파일에 없습니다. --page-max를 늘려 다시 만드십시오.", "profile.clear": "표시 지우기",
  "help.profile": "타임라인: 확대, 이동, 전체, 다음 표시 구간",
});

const NANOS = /** @type {[string, number][]} */ ([["min", 6e10], ["s", 1e9], ["ms", 1e6], ["µs", 1e3]]);

/** A time in words, three digits. @param {number} nanos */
export function nanosWord(nanos) {
  const size = Math.abs(nanos);
  const [unit, one] = NANOS.find(([, least]) => size >= least) ?? ["ns", 1];
  return `${Number((nanos / one).toPrecision(3))} ${unit}`;
}

/** Bytes in words, by 1024 as those of nodes. @type {(bytes: number) => string} */
export const memoryWord = layout.format_bytes;
