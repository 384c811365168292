// The page around the data of a timeline: it draws tracks on a canvas, zooms with the wheel, and moves with the mouse.
#pragma once

#include <string_view>

namespace ham::inline v1::trace {

inline constexpr std::string_view timeline_head = R"page(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>HAM trace</title><style>
body{margin:0;font:13px sans-serif;background:#fff;color:#222}
#top{padding:6px 10px;border-bottom:1px solid #ccc}#top b{margin-right:1em}
#tip{position:fixed;display:none;background:#222;color:#fff;padding:4px 8px;border-radius:3px;pointer-events:none;max-width:50em}
canvas{display:block}
</style></head><body><div id="top"><b id="title"></b>wheel: zoom; drag: move; double click: all<br><small id="remarks"></small></div>
<canvas id="view"></canvas><div id="tip"></div><script>
"use strict";let title,hidden,texts,remarks,tracks,slices,counters;
)page";

inline constexpr std::string_view timeline_tail = R"page(
const colours={encode:"#4e79a7",queue:"#bab0ac",execute:"#59a14f",reply:"#76b7b2",wait:"#edc948",transfer:"#f28e2b",
sleep:"#e0e0e0",span:"#b07aa1"};
const canvas=document.getElementById("view"),pen=canvas.getContext("2d"),tip=document.getElementById("tip");
document.getElementById("title").textContent=title;
document.getElementById("remarks").textContent=
  (hidden?hidden+" shorter slices are not shown; ":"")+remarks.join("; ");
const left=220,row=16,rows=[],placeOf={};
{const depth={};for(const s of slices)depth[s[0]]=Math.max(depth[s[0]]||0,s[1]);
 const used=tracks.filter(t=>depth[t[0]]!==undefined||counters.some(c=>c[0]===t[0]));
 used.sort((a,b)=>a[2]<b[2]?-1:a[2]>b[2]?1:a[0]-b[0]);
 let y=20,owner=null;
 for(const t of used){
  if(t[2]!==owner){owner=t[2];rows.push({y,label:owner,head:true});y+=20}
  const counter=counters.find(c=>c[0]===t[0]),height=counter?36:row*((depth[t[0]]||0)+1);
  placeOf[t[0]]={y,height};rows.push({y,label:t[1]+(t[3]?" ("+t[3]+")":""),height,counter});y+=height+4}
 canvas.height=y+20}
let last=1;for(const s of slices)last=Math.max(last,s[2]+s[3]);
for(const c of counters)for(const v of c[1])last=Math.max(last,v[0]);
let from=0,until=last;
const x=t=>left+(t-from)/(until-from)*(canvas.width-left);
const time=ns=>Math.abs(ns)<1e3?ns.toFixed(0)+" ns":Math.abs(ns)<1e6?(ns/1e3).toFixed(2)+" us":Math.abs(ns)<1e9?(ns/1e6).toFixed(3)+" ms":(ns/1e9).toFixed(4)+" s";
function draw(){
 canvas.width=document.body.clientWidth;pen.font="11px sans-serif";pen.textBaseline="middle";
 pen.clearRect(0,0,canvas.width,canvas.height);
 pen.fillStyle="#666";for(let i=0;i<8;i++){const t=from+(until-from)*i/8;pen.fillText(time(t),x(t)+2,9);pen.fillRect(x(t),0,1,canvas.height>18?18:0)}
 pen.save();pen.beginPath();pen.rect(left,0,canvas.width,canvas.height);pen.clip();
 for(const s of slices){
  if(s[2]>until||s[2]+s[3]<from)continue;
  const p=placeOf[s[0]],a=Math.max(x(s[2]),left-9),w=Math.max(Math.min(x(s[2]+s[3]),canvas.width+9)-a,1);
  pen.fillStyle=colours[texts[s[5]]]||"#9c755f";pen.fillRect(a,p.y+s[1]*row,w,row-2);
  if(w>40){pen.save();pen.beginPath();pen.rect(a,p.y,w,p.height);pen.clip();pen.fillStyle="#000";
   pen.fillText(texts[s[4]],Math.max(a,left)+2,p.y+s[1]*row+row/2-1);pen.restore()}}
 pen.strokeStyle="rgba(200,0,0,.5)";let arrows=0;
 for(const s of slices){
  if(s[6]<0||arrows>2000)continue;const e=slices[s[6]],a=s[2]+s[3];
  if(Math.max(a,e[2])<from||Math.min(a,e[2])>until)continue;arrows++;
  const p=placeOf[s[0]],q=placeOf[e[0]];pen.beginPath();pen.moveTo(x(a),p.y+s[1]*row+row/2);pen.lineTo(x(e[2]),q.y+e[1]*row+row/2);pen.stroke()}
 for(const r of rows)if(r.counter){
  const values=r.counter[1],most=Math.max(...values.map(v=>v[1]),1e-300);
  pen.fillStyle="#7a9cc6";
  values.forEach((v,i)=>{const end=i+1<values.length?values[i+1][0]:last,h=Math.max(v[1],0)/most*(r.height-2);
   if(end>=from&&v[0]<=until)pen.fillRect(x(v[0]),r.y+r.height-h,Math.max(x(end)-x(v[0]),1),h)})}
 pen.restore();
 for(const r of rows){pen.fillStyle=r.head?"#eef":"#fff";pen.fillRect(0,r.y,r.head?canvas.width:left-4,r.head?18:r.height);
  pen.fillStyle="#222";pen.save();pen.beginPath();pen.rect(0,r.y,r.head?canvas.width:left-4,40);pen.clip();pen.fillText(r.label,r.head?4:12,r.y+9);pen.restore()}}
canvas.addEventListener("wheel",e=>{e.preventDefault();const t=from+(e.offsetX-left)/(canvas.width-left)*(until-from),
 f=e.deltaY>0?1.25:.8;from=t-(t-from)*f;until=t+(until-t)*f;draw()},{passive:false});
let grip=null;
canvas.addEventListener("mousedown",e=>{grip=[e.offsetX,from,until]});
addEventListener("mouseup",()=>{grip=null});
canvas.addEventListener("dblclick",()=>{from=0;until=last;draw()});
canvas.addEventListener("mousemove",e=>{
 if(grip){const d=(grip[0]-e.offsetX)/(canvas.width-left)*(grip[2]-grip[1]);from=grip[1]+d;until=grip[2]+d;draw();return}
 let found=null;for(const s of slices){const p=placeOf[s[0]],y=p.y+s[1]*row;
  if(e.offsetY>=y&&e.offsetY<y+row&&e.offsetX>=x(s[2])-1&&e.offsetX<=x(s[2]+s[3])+1)found=s}
 tip.style.display=found?"block":"none";
 if(found){tip.style.left=e.clientX+12+"px";tip.style.top=e.clientY+12+"px";
  tip.textContent=texts[found[4]]+" ["+texts[found[5]]+"] at "+time(found[2])+", "+time(found[3])}});
addEventListener("resize",draw);draw();
</script></body></html>
)page";

}  // namespace ham::trace
